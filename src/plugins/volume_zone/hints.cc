#include <algorithm>
#include <array>

#include "api/core/persistent_volume.h"
#include "api/storage/storage_class.h"
#include "plugins/common/hints.h"
#include "plugins/common/volume_claims.h"
#include "plugins/volume_zone/volume_zone.h"
#include "plugins/volume_zone/zones.h"

namespace berth::plugins::volume_zone {
namespace {

using cluster::Cluster;
using framework::Hint;
using queue::Event;

// By label: the zones, sorted and each once; nothing where the label is absent or ignored.
using Places = std::array<std::optional<std::vector<std::string_view>>, std::size(kTopologyLabels)>;

Places PlacesOf(const api::PersistentVolume& volume) {
  Places places;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto* label = api::FindValue(volume.metadata.labels, kTopologyLabels[i].key);
    if (label != nullptr) places[i] = ParseZones(*label);
    if (!places[i]) continue;
    std::sort(places[i]->begin(), places[i]->end());
    places[i]->erase(std::unique(places[i]->begin(), places[i]->end()), places[i]->end());
  }
  return places;
}

// The volumes of a class that waits are made where the pod goes.
Result<Hint> AfterClassAdded(const Cluster&, const cluster::Pod&, const Event& event) {
  const auto* added = event.New<api::StorageClass>();
  if (added == nullptr) return NoObject("storage class");
  return QueueIf(added->volume_binding_mode == kWaitForFirstConsumer);
}

Result<Hint> AfterClaimChange(const Cluster&, const cluster::Pod& pod, const Event& event) {
  const auto* claim = event.New<api::PersistentVolumeClaim>();
  return QueueIf(claim != nullptr && UsesClaim(pod, *claim, /*ephemeral=*/false));
}

Result<Hint> AfterVolumeChange(const Cluster&, const cluster::Pod&, const Event& event) {
  const auto* before = event.Old<api::PersistentVolume>();
  const auto* after = event.New<api::PersistentVolume>();
  if (after == nullptr) return NoObject("persistent volume");
  return QueueIf(before == nullptr || PlacesOf(*before) != PlacesOf(*after));
}

}  // namespace

std::vector<framework::RegisteredEvent> VolumeZone::EventsToRegister(
    const config::Behaviour&) const {
  using enum queue::EventResource;
  constexpr uint16_t kAddOrUpdate = queue::kAdd | queue::kUpdate;
  return {On(kStorageClass, queue::kAdd, "isSchedulableAfterStorageClassAdded", AfterClassAdded),
          On(kNode, queue::kAdd | queue::kUpdateNodeLabel),
          On(kPersistentVolumeClaim, kAddOrUpdate, "isSchedulableAfterPersistentVolumeClaimChange",
             AfterClaimChange),
          On(kPersistentVolume, kAddOrUpdate, "isSchedulableAfterPersistentVolumeChange",
             AfterVolumeChange)};
}

}  // namespace berth::plugins::volume_zone

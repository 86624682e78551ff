#include <algorithm>

#include "api/storage/csi_driver.h"
#include "api/storage/csi_node.h"
#include "api/storage/csi_storage_capacity.h"
#include "api/storage/storage_class.h"
#include "plugins/common/csi_translation.h"
#include "plugins/common/hints.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins::volume_binding {
namespace {

using cluster::Cluster;
using framework::Hint;
using queue::Event;

Result<Hint> AfterClassChange(const Cluster&, const cluster::Pod&, const Event& event) {
  const auto* before = event.Old<api::StorageClass>();
  const auto* after = event.New<api::StorageClass>();
  if (after == nullptr) return NoObject("storage class");
  return QueueIf(before == nullptr || before->allowed_topologies != after->allowed_topologies);
}

Result<Hint> AfterClaimChange(const Cluster&, const cluster::Pod& pod, const Event& event) {
  const auto* claim = event.New<api::PersistentVolumeClaim>();
  if (claim == nullptr) return NoObject("persistent volume claim");
  return QueueIf(UsesClaim(pod, *claim, /*ephemeral=*/true));
}

// An annotation that is absent and one that is empty are the same.
std::string_view MigratedPlugins(const api::CSINode& node) {
  const std::string* list = api::FindValue(node.metadata.annotations, kMigratedPluginsAnnotation);
  return list == nullptr ? std::string_view() : std::string_view(*list);
}

Result<Hint> AfterCsiNodeChange(const Cluster&, const cluster::Pod&, const Event& event) {
  const auto* before = event.Old<api::CSINode>();
  const auto* after = event.New<api::CSINode>();
  if (after == nullptr) return NoObject("CSI node");
  return QueueIf(before == nullptr || MigratedPlugins(*before) != MigratedPlugins(*after));
}

// A driver that has stopped to speak about capacity does not restrict pods by it any more.
Result<Hint> AfterCsiDriverChange(const Cluster&, const cluster::Pod& pod, const Event& event) {
  const auto* before = event.Old<api::CSIDriver>();
  const auto* after = event.New<api::CSIDriver>();
  if (before == nullptr || after == nullptr) return NoObject("CSI driver");
  if (!before->spec.storage_capacity.value_or(false)) return Hint::kSkip;
  if (after->spec.storage_capacity.value_or(false)) return Hint::kSkip;
  const auto& volumes = pod.shape->source.spec.volumes;
  return QueueIf(std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& volume) {
    return volume.csi && volume.csi->driver == after->metadata.name;
  }));
}

const std::optional<api::Quantity>& LargestVolume(const api::CSIStorageCapacity& capacity) {
  return capacity.maximum_volume_size ? capacity.maximum_volume_size : capacity.capacity;
}

Result<Hint> AfterCapacityChange(const Cluster&, const cluster::Pod&, const Event& event) {
  const auto* before = event.Old<api::CSIStorageCapacity>();
  const auto* after = event.New<api::CSIStorageCapacity>();
  if (after == nullptr) return NoObject("CSI storage capacity");
  if (before == nullptr) return Hint::kQueue;
  const auto& was = LargestVolume(*before);
  const auto& is = LargestVolume(*after);
  return QueueIf(is && (!was || is->Value() > was->Value()));
}

}  // namespace

std::vector<framework::RegisteredEvent> VolumeBinding::EventsToRegister(
    const config::Behaviour&) const {
  using enum queue::EventResource;
  constexpr uint16_t kAddOrUpdate = queue::kAdd | queue::kUpdate;
  return {On(kStorageClass, kAddOrUpdate, "isSchedulableAfterStorageClassChange", AfterClassChange),
          On(kPersistentVolumeClaim, kAddOrUpdate, "isSchedulableAfterPersistentVolumeClaimChange",
             AfterClaimChange),
          On(kPersistentVolume, kAddOrUpdate),
          On(kNode, queue::kAdd | queue::kUpdateNodeLabel),
          On(kCSINode, kAddOrUpdate, "isSchedulableAfterCSINodeChange", AfterCsiNodeChange),
          On(kCSIDriver, queue::kUpdate, "isSchedulableAfterCSIDriverChange", AfterCsiDriverChange),
          On(kCSIStorageCapacity, kAddOrUpdate, "isSchedulableAfterCSIStorageCapacityChange",
             AfterCapacityChange)};
}

}  // namespace berth::plugins::volume_binding

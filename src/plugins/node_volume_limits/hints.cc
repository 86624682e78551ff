#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/storage/csi_node.h"
#include "api/storage/volume_attachment.h"
#include "plugins/common/csi_translation.h"
#include "plugins/common/hints.h"
#include "plugins/node_volume_limits/node_volume_limits.h"

namespace berth::plugins::node_volume_limits {
namespace {

using framework::Hint;

int32_t LimitOf(const api::CSINodeDriver& driver) {
  return driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
}

// A driver that takes more volumes than before. One without a limit counts as taking none.
Result<Hint> AfterCsiNodeUpdated(const cluster::Cluster&, const cluster::Pod&,
                                 const queue::Event& event) {
  const auto* before = event.Old<api::CSINode>();
  const auto* after = event.New<api::CSINode>();
  if (before == nullptr || after == nullptr) return NoObject("CSI node");
  boost::unordered_flat_map<std::string_view, int32_t> limits;
  for (const auto& driver : before->spec.drivers) limits[driver.name] = LimitOf(driver);
  const auto& drivers = after->spec.drivers;
  return QueueIf(std::any_of(drivers.begin(), drivers.end(), [&](const auto& driver) {
    const auto it = limits.find(driver.name);
    return LimitOf(driver) > (it == limits.end() ? 0 : it->second);
  }));
}

Result<Hint> AfterPodDeleted(const cluster::Cluster&, const cluster::Pod&,
                             const queue::Event& event) {
  const auto* deleted = event.Old<cluster::Pod>();
  if (deleted == nullptr) return NoObject("pod");
  if (!HasNode(*deleted)) return Hint::kSkip;
  const auto& volumes = deleted->shape->source.spec.volumes;
  return QueueIf(std::any_of(volumes.begin(), volumes.end(), [](const api::Volume& volume) {
    return volume.persistent_volume_claim || volume.ephemeral ||
           InTreeKindOf(volume) != InTreeKind::kNone;
  }));
}

Result<Hint> AfterClaimAdded(const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) {
  const auto* claim = event.New<api::PersistentVolumeClaim>();
  if (claim == nullptr) return NoObject("persistent volume claim");
  return QueueIf(UsesClaim(pod, *claim, /*ephemeral=*/true));
}

Result<Hint> AfterAttachmentDeleted(const cluster::Cluster&, const cluster::Pod& pod,
                                    const queue::Event& event) {
  const auto* deleted = event.Old<api::VolumeAttachment>();
  if (deleted == nullptr) return NoObject("volume attachment");
  for (const api::Volume& volume : pod.shape->source.spec.volumes) {
    if (volume.persistent_volume_claim) return Hint::kQueue;
    const InTreeKind kind = InTreeKindOf(volume);
    if (kind == InTreeKind::kNone) continue;
    // Kinds that are never migrated always have a handle.
    if (IsMigrated(kind)) {
      if (const auto handle = TranslatedHandle(volume); !handle) {
        return Fail(handle.error().In("converting volume(" + volume.name + ") from inline to csi"));
      }
    }
    if (deleted->spec.attacher == CsiDriverName(kind)) return Hint::kQueue;
  }
  return Hint::kSkip;
}

}  // namespace

std::vector<framework::RegisteredEvent> NodeVolumeLimits::EventsToRegister(
    const config::Behaviour& behaviour) const {
  using enum queue::EventResource;
  return {On(kCSINode, queue::kAdd),
          On(kCSINode, queue::kUpdate, "isSchedulableAfterCSINodeUpdated", AfterCsiNodeUpdated),
          OnAssignedPod(behaviour, queue::kDelete, "isSchedulableAfterAssignedPodDeleted",
                        "isSchedulableAfterPodDeleted", AfterPodDeleted),
          On(kPersistentVolumeClaim, queue::kAdd, "isSchedulableAfterPVCAdded", AfterClaimAdded),
          On(kVolumeAttachment, queue::kDelete, "isSchedulableAfterVolumeAttachmentDeleted",
             AfterAttachmentDeleted)};
}

}  // namespace berth::plugins::node_volume_limits

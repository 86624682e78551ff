// EventResource: what an event is about, in kube-scheduler's order and vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::cluster {

enum class EventResource : uint8_t {
  kPod,               // only registered: matches every kind of pod below
  kAssignedPod,       // a pod with a node, or one that released its node
  kUnschedulablePod,  // only incoming, without EventRules::split_pods: a pending pod
  kUnscheduledPod,    // with split_pods: a pending pod, seen by others
  kTargetPod,         // with split_pods: the pending pod itself
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kCSIStorageCapacity,
  kStorageClass,
  kVolumeAttachment,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kWildCard,
  kCustomResource,  // of any kind that a plugin reads as JSON; hints look at the object
  kPodGroup,        // only with Behaviour::pod_groups
};
inline constexpr size_t kEventResources = 19;

}  // namespace berth::cluster

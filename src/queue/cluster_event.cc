#include "queue/cluster_event.h"

#include <algorithm>
#include <array>
#include <bit>

#include <boost/container/flat_map.hpp>

#include "api/rules/pod_requests.h"

namespace berth::queue {
namespace {

constexpr std::array<std::string_view, 15> kResourceNames = {
    "Pod",
    "AssignedPod",
    "UnschedulablePod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/VolumeAttachment",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceSlice",
    "resource.k8s.io/DeviceClass",
    "*",
};

// By bit.
constexpr std::array<std::string_view, 12> kActionNames = {
    "Add",
    "Delete",
    "UpdateNodeAllocatable",
    "UpdateNodeLabel",
    "UpdateNodeTaint",
    "UpdateNodeCondition",
    "UpdateNodeAnnotation",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodToleration",
    "UpdatePodSchedulingGatesEliminated",
    "UpdatePodGeneratedResourceClaim",
};

// Combinations that have no name of their own are called nothing.
std::string_view ActionName(uint16_t action) {
  if (action == kAll) return "All";
  if (action == kUpdate) return "Update";
  if (!std::has_single_bit(action) || action > kAll) return "";
  return kActionNames[static_cast<size_t>(std::countr_zero(action))];
}

bool MatchesResource(EventResource registered, EventResource incoming) {
  if (registered == EventResource::kWildCard || registered == incoming) return true;
  return registered == EventResource::kPod &&
         (incoming == EventResource::kAssignedPod || incoming == EventResource::kUnschedulablePod);
}

// Does the pod request less of some resource, resizes included?
bool ScalesDown(const cluster::PodShape& old_shape, const cluster::PodShape& new_shape) {
  const api::ResourceList before = api::PodRequests(old_shape.source, {.use_status = true});
  const api::ResourceList after = api::PodRequests(new_shape.source, {.use_status = true});
  return std::any_of(before.begin(), before.end(), [&](const auto& request) {
    const auto it = after.find(request.first);
    return it == after.end() || request.second.MilliValue() > it->second.MilliValue();
  });
}

using ConditionStatuses = boost::container::flat_map<std::string_view, std::string_view>;

// Without times and messages; of a type that is listed twice the last counts.
ConditionStatuses StatusesOf(const std::vector<api::NodeCondition>& conditions) {
  ConditionStatuses statuses;
  for (const api::NodeCondition& c : conditions) statuses[c.type] = c.status;
  return statuses;
}

}  // namespace

std::string_view ResourceName(EventResource resource) {
  return kResourceNames[static_cast<size_t>(resource)];
}

std::string ClusterEvent::Label() const {
  if (!custom_label.empty()) return std::string(custom_label);
  return std::string(ResourceName(resource)) + std::string(ActionName(action));
}

bool Matches(const ClusterEvent& registered, const ClusterEvent& incoming) {
  if (registered.IsWildCard()) return true;
  return MatchesResource(registered.resource, incoming.resource) &&
         (registered.action & incoming.action) != 0 && incoming.action <= registered.action;
}

std::vector<ClusterEvent> PodChanges(const cluster::Pod& old_pod, const cluster::Pod& new_pod) {
  const EventResource resource =
      new_pod.node_name.empty() ? EventResource::kUnschedulablePod : EventResource::kAssignedPod;
  std::vector<ClusterEvent> changes;
  const auto note = [&](bool changed, uint16_t action) {
    if (changed) changes.push_back({resource, action});
  };
  const cluster::PodShape& before = *old_pod.shape;
  const cluster::PodShape& after = *new_pod.shape;
  bool claims_changed = old_pod.resource_claim_statuses != new_pod.resource_claim_statuses;
  if (&before != &after) {
    note(before.source.metadata.labels != after.source.metadata.labels, kUpdatePodLabel);
    note(ScalesDown(before, after), kUpdatePodScaleDown);
    note(after.scheduling_gates.empty() && !before.scheduling_gates.empty(),
         kUpdatePodSchedulingGatesEliminated);
    // Tolerations can only be added.
    note(before.source.spec.tolerations.size() != after.source.spec.tolerations.size(),
         kUpdatePodToleration);
    claims_changed |= before.source.status.extended_resource_claim_status !=
                      after.source.status.extended_resource_claim_status;
  }
  note(claims_changed, kUpdatePodGeneratedResourceClaim);
  note(changes.empty(), kUpdate);
  return changes;
}

std::vector<ClusterEvent> NodeChanges(const api::Node& old_node, const api::Node& new_node) {
  std::vector<ClusterEvent> changes;
  const auto note = [&](bool changed, uint16_t action) {
    if (changed) changes.push_back({EventResource::kNode, action});
  };
  note(old_node.spec.unschedulable && !new_node.spec.unschedulable, kUpdateNodeTaint);
  note(old_node.status.allocatable != new_node.status.allocatable, kUpdateNodeAllocatable);
  note(old_node.metadata.labels != new_node.metadata.labels, kUpdateNodeLabel);
  note(old_node.spec.taints != new_node.spec.taints, kUpdateNodeTaint);
  note(StatusesOf(old_node.status.conditions) != StatusesOf(new_node.status.conditions),
       kUpdateNodeCondition);
  note(old_node.metadata.annotations != new_node.metadata.annotations, kUpdateNodeAnnotation);
  return changes;
}

}  // namespace berth::queue

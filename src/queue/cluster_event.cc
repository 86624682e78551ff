#include "queue/cluster_event.h"

#include <algorithm>
#include <array>
#include <bit>

#include <boost/container/flat_map.hpp>

namespace berth::queue {
namespace {

constexpr std::array<std::string_view, cluster::kEventResources> kResourceNames = {
    "Pod",
    "AssignedPod",
    "UnschedulablePod",
    "UnscheduledPod",
    "TargetPod",
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
    "CustomResource",
    "scheduling.k8s.io/PodGroup",
};

// By bit.
constexpr std::array<std::string_view, kActionCount> kActionNames = {
    "Add",
    "Delete",
    "UpdateNodeAllocatable",
    "UpdateNodeLabel",
    "UpdateNodeTaint",
    "UpdateNodeCondition",
    "UpdateNodeAnnotation",
    "UpdateNodeDeclaredFeature",
    "UpdateNodePreemptionPolicy",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodScaleUp",
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
  return registered == EventResource::kPod && incoming <= EventResource::kTargetPod;
}

// Is some amount of `a` larger than in `b`?
bool AnyLarger(const api::ResourceList& a, const api::ResourceList& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& request) {
    const auto it = b.find(request.first);
    return it == b.end() || request.second.MilliValue() > it->second.MilliValue();
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

std::vector<ClusterEvent> PodChanges(const cluster::Pod& old_pod, const cluster::Pod& new_pod,
                                     const EventRules& rules) {
  const EventResource resource = !new_pod.node_name.empty() ? EventResource::kAssignedPod
                                 : rules.split_pods         ? EventResource::kTargetPod
                                                            : EventResource::kUnschedulablePod;
  std::vector<ClusterEvent> changes;
  const auto note = [&](bool changed, uint16_t action) {
    if (changed) changes.push_back({resource, action});
  };
  const cluster::PodShape& before = *old_pod.shape;
  const cluster::PodShape& after = *new_pod.shape;
  bool claims_changed = old_pod.resource_claim_statuses != new_pod.resource_claim_statuses;
  if (&before != &after) {
    note(before.source.metadata.labels != after.source.metadata.labels, kUpdatePodLabel);
    const api::PodRequestsOptions options{.use_status = true, .rules = rules.requests};
    const api::ResourceList requested = api::PodRequests(before.source, options);
    const api::ResourceList requests = api::PodRequests(after.source, options);
    note(AnyLarger(requested, requests), kUpdatePodScaleDown);
    note(rules.split_pods && AnyLarger(requests, requested), kUpdatePodScaleUp);
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

std::vector<ClusterEvent> NodeChanges(const api::Node& old_node, const api::Node& new_node,
                                      const EventRules& rules) {
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
  note(
      rules.node_features && old_node.status.declared_features != new_node.status.declared_features,
      kUpdateNodeDeclaredFeature);
  return changes;
}

}  // namespace berth::queue

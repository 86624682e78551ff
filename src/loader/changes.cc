#include "loader/changes.h"

#include <utility>

namespace berth::loader {
namespace {

constexpr std::pair<uint32_t, queue::EventResource> kResources[] = {
    {BERTH_EVENT_POD, queue::EventResource::kPod},
    {BERTH_EVENT_NODE, queue::EventResource::kNode},
    {BERTH_EVENT_PERSISTENT_VOLUME, queue::EventResource::kPersistentVolume},
    {BERTH_EVENT_PERSISTENT_VOLUME_CLAIM, queue::EventResource::kPersistentVolumeClaim},
    {BERTH_EVENT_STORAGE_CLASS, queue::EventResource::kStorageClass},
    {BERTH_EVENT_CSI_NODE, queue::EventResource::kCSINode},
    {BERTH_EVENT_RESOURCE_CLAIM, queue::EventResource::kResourceClaim},
};

constexpr std::pair<uint32_t, uint16_t> kActions[] = {
    {BERTH_ON_ADD, queue::kAdd},
    {BERTH_ON_DELETE, queue::kDelete},
    {BERTH_ON_NODE_ALLOCATABLE, queue::kUpdateNodeAllocatable},
    {BERTH_ON_NODE_LABEL, queue::kUpdateNodeLabel},
    {BERTH_ON_NODE_TAINT, queue::kUpdateNodeTaint},
    {BERTH_ON_NODE_CONDITION, queue::kUpdateNodeCondition},
    {BERTH_ON_NODE_ANNOTATION, queue::kUpdateNodeAnnotation},
    {BERTH_ON_POD_LABEL, queue::kUpdatePodLabel},
    {BERTH_ON_POD_SCALE_DOWN, queue::kUpdatePodScaleDown},
    {BERTH_ON_POD_TOLERATION, queue::kUpdatePodToleration},
    {BERTH_ON_UPDATE, queue::kUpdate},
};

// Changes that the interface has no bit for are updates of some kind.
uint32_t ToActions(uint16_t actions) {
  uint32_t found = 0;
  for (const auto& [theirs, ours] : kActions) {
    if ((actions & ours) == ours) found |= theirs;
  }
  return found == 0 ? uint32_t{BERTH_ON_UPDATE} : found;
}

uint32_t ChangeResource(const berth_change* change) { return change->resource; }
uint32_t ChangeActions(const berth_change* change) { return change->actions; }
const berth_pod* ChangePod(const berth_change* change) {
  return change->pod ? &*change->pod : nullptr;
}
const berth_node* ChangeNode(const berth_change* change) {
  return change->node ? &*change->node : nullptr;
}

}  // namespace

std::optional<queue::EventResource> ResourceOf(uint32_t resource) {
  for (const auto& [theirs, ours] : kResources) {
    if (theirs == resource) return ours;
  }
  return std::nullopt;
}

uint16_t ActionsOf(uint32_t actions) {
  if ((actions & BERTH_ON_ALL) == BERTH_ON_ALL) return queue::kAll;
  uint16_t found = 0;
  for (const auto& [theirs, ours] : kActions) {
    if ((actions & theirs) == theirs) found |= ours;
  }
  return found;
}

std::optional<berth_change> ChangeOf(const cluster::Cluster& cluster, const queue::Event& event) {
  const auto* pod = event.New<cluster::Pod>();
  if (pod == nullptr) pod = event.Old<cluster::Pod>();
  berth_change change{BERTH_EVENT_POD, ToActions(event.what.action), {}, {}};
  if (pod != nullptr) {  // pods are several resources to the queue
    change.pod.emplace(berth_pod{cluster, *pod});
    return change;
  }
  for (const auto& [theirs, ours] : kResources) {
    if (ours != event.what.resource) continue;
    change.resource = theirs;
    if (const auto* node = event.New<api::Node>()) {
      const cluster::NodeIndex n = cluster.FindNode(node->metadata.name);
      if (n != cluster::kNoNode) change.node.emplace(berth_node{cluster, n});
    }
    return change;
  }
  return std::nullopt;
}

void FillChanges(berth_host& host) {
  host.change_resource = &ChangeResource;
  host.change_actions = &ChangeActions;
  host.change_pod = &ChangePod;
  host.change_node = &ChangeNode;
}

}  // namespace berth::loader

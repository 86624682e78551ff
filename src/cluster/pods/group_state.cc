#include "cluster/pods/group_state.h"

#include <algorithm>
#include <optional>

#include "cluster/objects/adopted_groups.h"
#include "cluster/objects/object_store.h"

namespace berth::cluster {
namespace {

std::span<const PodId> MembersOf(const Cluster& cluster, const api::PodGroup& group) {
  return cluster.Members().Of(group.metadata.namespace_, group.metadata.name);
}

}  // namespace

const api::PodGroup* GroupOf(const Cluster& cluster, const Pod& pod) {
  const std::string* name = GroupNameOf(pod);
  return name == nullptr ? nullptr : cluster.Objects().pod_groups.Find(pod.namespace_(), *name);
}

int32_t PriorityOf(const Cluster& cluster, const api::PodGroup& group) {
  if (group.spec.priority || !IsAdoptedGroup(group.metadata.name)) {
    return group.spec.priority.value_or(0);
  }
  std::optional<int32_t> highest;
  for (const PodId id : MembersOf(cluster, group)) {
    const int32_t own = cluster.GetPod(id).shape->priority;
    highest = std::max(highest.value_or(own), own);
  }
  return highest.value_or(0);
}

std::vector<PodId> PlacedMembers(const Cluster& cluster, const api::PodGroup& group) {
  std::vector<PodId> placed;
  for (const PodId id : MembersOf(cluster, group)) {
    if (cluster.GetPod(id).node != kNoNode) placed.push_back(id);
  }
  std::ranges::sort(placed, {}, [&](PodId id) -> const std::string& {  // names are unique
    return cluster.GetPod(id).name;
  });
  return placed;
}

size_t PlacedMemberCount(const Cluster& cluster, const api::PodGroup& group) {
  return static_cast<size_t>(std::ranges::count_if(
      MembersOf(cluster, group), [&](PodId id) { return cluster.GetPod(id).node != kNoNode; }));
}

}  // namespace berth::cluster

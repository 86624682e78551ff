// What a PodGroup and its pods are like now: counts and the priority that counts for preemption.
#pragma once

#include <cstdint>
#include <vector>

#include "api/scheduling/pod_group.h"
#include "cluster/cluster.h"

namespace berth::cluster {

// The group that the pod names; null: none, or it is not known.
const api::PodGroup* GroupOf(const Cluster& cluster, const Pod& pod);

// spec.priority, or 0.
inline int32_t PriorityOf(const api::PodGroup& group) { return group.spec.priority.value_or(0); }
// The same, but of an adopted group without a priority the highest of its pods.
int32_t PriorityOf(const Cluster& cluster, const api::PodGroup& group);

// The number of pods that gang scheduling asks for; 0: the group is no gang.
inline int32_t MinCountOf(const api::PodGroup& group) {
  return group.spec.scheduling_policy.gang ? group.spec.scheduling_policy.gang->min_count : 0;
}

// Members that have a node, assumed ones included, by name.
std::vector<PodId> PlacedMembers(const Cluster& cluster, const api::PodGroup& group);
size_t PlacedMemberCount(const Cluster& cluster, const api::PodGroup& group);

}  // namespace berth::cluster

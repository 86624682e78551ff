// DisruptionUnit: pods that preemption evicts together or not at all.
//
// A pod is a unit of its own, unless its PodGroup has the disruption mode "all": then all placed
// pods of the group are one, wherever they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "cluster/cluster.h"
#include "config/behaviour.h"

namespace berth::plugins::default_preemption {

struct DisruptionUnit {
  int32_t priority = 0;   // of the group, for its pods
  bool of_group = false;  // a group, or a pod of one
  api::Time start;        // of the pod that started first; zero: none has
  boost::container::small_vector<cluster::PodId, 1> pods;
};

// What units are, and how they compare.
struct UnitRules {
  bool groups = false;             // Behaviour::pod_groups
  bool start_when_listed = false;  // Behaviour::victims_start_when_listed

  UnitRules() = default;
  explicit UnitRules(const config::Behaviour& behaviour)
      : groups(behaviour.pod_groups), start_when_listed(behaviour.victims_start_when_listed) {}
};

// The priority that protects a pod from preemption.
int32_t VictimPriority(const cluster::Cluster& cluster, const cluster::Pod& pod,
                       const UnitRules& rules);

// The units with a pod on one of `nodes` whose priority is below `priority`, in the order of nodes
// and of the pods on them.
std::vector<DisruptionUnit> UnitsBelow(const cluster::Cluster& cluster,
                                       std::span<const cluster::NodeIndex> nodes, int32_t priority,
                                       const UnitRules& rules);

// Does preemption spare `a` rather than `b`: higher priority, a group, more pods, longer running?
bool MoreImportant(const DisruptionUnit& a, const DisruptionUnit& b);
bool MoreImportant(const cluster::Pod& a, const cluster::Pod& b);
// Most important first, in kube-scheduler's sort order.
void SortByImportance(std::vector<DisruptionUnit>& units, const UnitRules& rules);

}  // namespace berth::plugins::default_preemption

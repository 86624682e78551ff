// GroupPreemption: which pods have to go so that a whole group can be placed.
//
// All units of a lower priority are taken off the cluster and the group is placed once. Then unit
// by unit, the most important first, is put back if every pod of the group still fits on the node
// it got. What cannot be put back are the victims. All of it happens in a transaction that is
// rolled back.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "framework/points/pod_group.h"
#include "framework/runtime/cycle.h"
#include "plugins/default_preemption/disruption_budgets.h"
#include "plugins/default_preemption/disruption_unit.h"

namespace berth::plugins::default_preemption {

class GroupPreemption {
 public:
  // `group_policy`: the group's preemptionPolicy counts, not that of its pods.
  GroupPreemption(framework::Cycle& cycle, cluster::Cluster& cluster,
                  const DisruptionBudgets& budgets, const UnitRules& rules, bool group_policy)
      : cycle_(cycle),
        cluster_(cluster),
        budgets_(budgets),
        rules_(rules),
        group_policy_(group_policy) {}

  framework::Status Run(const framework::PodGroupInfo& info, framework::PodGroupTrial& trial,
                        framework::PodGroupPostFilterResult* result);

 private:
  bool MayPreempt(const framework::PodGroupInfo& info) const;
  bool IsOngoing(const framework::PodGroupInfo& info) const;
  framework::Status SelectVictims(std::vector<DisruptionUnit> potential,
                                  framework::PodGroupTrial& trial,
                                  framework::PodGroupPostFilterResult* result);
  // Puts the unit back if the group still fits; otherwise it becomes a victim.
  framework::Status Reprieve(DisruptionUnit& unit, bool* spared);
  bool AllFit();
  framework::Status Notify(cluster::PodId victim, bool added);

  framework::Cycle& cycle_;
  cluster::Cluster& cluster_;
  const DisruptionBudgets& budgets_;
  const UnitRules& rules_;
  const bool group_policy_;
  std::vector<framework::TrialAssignment> assignments_;
  std::vector<cluster::NodeIndex> home_;  // by pod: the node it was taken off
};

}  // namespace berth::plugins::default_preemption

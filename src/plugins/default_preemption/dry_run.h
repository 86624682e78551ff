// DryRun: what if the less important pods of one node were gone, and with them the rest of their
// groups where those are disrupted as a whole?
//
// Pods are taken off the node in the cluster itself, in a transaction that is rolled back: columns,
// counters and plugin states follow as they would for real, and nothing is copied.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "framework/points/preemption_candidates.h"
#include "framework/runtime/cycle.h"
#include "plugins/default_preemption/disruption_budgets.h"
#include "plugins/default_preemption/disruption_unit.h"

namespace berth::plugins::default_preemption {

using Candidate = framework::PreemptionCandidate;

// Why a node is no candidate.
struct NoCandidate {
  bool no_victims = false;     // nothing there is less important than the pod
  framework::Verdict verdict;  // else: why the pod does not fit even without them
};

class DryRun {
 public:
  DryRun(framework::Cycle& cycle, cluster::Cluster& cluster, const DisruptionBudgets& budgets,
         const UnitRules& rules)
      : cycle_(cycle), cluster_(cluster), budgets_(budgets), rules_(rules) {}

  // Finds the smallest set of victims on `node`, sparing the important and those whose disruption
  // budget is used up as far as possible. True: `candidate` is filled; false: `why` is. The cluster
  // and the cycle are as before.
  bool SelectVictims(cluster::NodeIndex node, Candidate* candidate, NoCandidate* why);

 private:
  bool Remove(const DisruptionUnit& unit);
  // Puts `unit` back if the cycle's pod still fits then; true when it does.
  bool Reprieve(const DisruptionUnit& unit);
  bool Fails(const framework::Status& status);
  bool Select(std::vector<DisruptionUnit>& potential, Candidate* candidate, NoCandidate* why);

  framework::Cycle& cycle_;
  cluster::Cluster& cluster_;
  const DisruptionBudgets& budgets_;
  const UnitRules rules_;
  cluster::NodeIndex node_ = cluster::kNoNode;
  struct Removed {
    cluster::PodId pod;
    cluster::NodeIndex node;
  };
  std::vector<Removed> removed_;  // as the cycle's plugins know it, last one last
  bool failed_ = false;           // a plugin could not follow
};

}  // namespace berth::plugins::default_preemption

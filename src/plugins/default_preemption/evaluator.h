// Evaluator: preemption for plugins that choose victims by rules of their own.
//
// Candidates are found and picked as kube-scheduler's evaluator does: nodes that rejected the pod
// as Unschedulable are dry-run in order, the least harmful candidate wins. A VictimPolicy says
// which pods may go. Results are not cached, so a policy may depend on anything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/points/preemption_candidates.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "plugins/default_preemption/disruption_budgets.h"

namespace berth::plugins::default_preemption {

// Most important first, in the order of kube-scheduler 1.34.
void SortByImportance(const cluster::Cluster& cluster, std::vector<cluster::PodId>& pods);

class VictimPolicy {
 public:
  virtual ~VictimPolicy() = default;

  // Appends the pods of `node` that may be victims. A failure is the status of the node.
  virtual framework::Status PotentialVictims(const framework::Cycle& cycle,
                                             const cluster::Cluster& cluster,
                                             cluster::NodeIndex node,
                                             std::vector<cluster::PodId>* pods) = 0;
  // In which order victims are spared, most important first.
  virtual void Sort(const cluster::Cluster& cluster, std::vector<cluster::PodId>& pods) const;
  // Called when the pod fits on the node without its potential victims: a failure is the status of
  // the node all the same.
  virtual framework::Status Allows(const framework::Cycle&) { return {}; }
  // Called when a potential victim is back on the node: must it go although the pod fits beside it?
  virtual bool MustGo(const framework::Cycle&) { return false; }
};

class Evaluator {
 public:
  // How many of `nodes` are dry-run before the search may end, and where it begins.
  struct Range {
    size_t offset = 0;
    size_t wanted = 0;
  };

  // The nodes where preemption may help, in order.
  static std::vector<cluster::NodeIndex> PotentialNodes(const framework::Cycle& cycle,
                                                        const cluster::Cluster& cluster,
                                                        const framework::Diagnosis& diagnosis);

  // Success: `candidates` has some. Otherwise the plugin's status, with `result`. The cluster and
  // the cycle are as before. REQUIRES: the pod may preempt.
  framework::Status Find(framework::Cycle& cycle, cluster::Cluster& cluster,
                         const framework::Diagnosis& diagnosis,
                         const std::vector<cluster::NodeIndex>& nodes, Range range,
                         VictimPolicy& policy,
                         std::vector<framework::PreemptionCandidate>* candidates,
                         framework::PostFilterResult* result);

 private:
  DisruptionBudgets budgets_;
};

// The verdict's code on the pod's nominated node; the code that stands for all others if it has
// none.
framework::Code CodeOfNominated(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                                const framework::Diagnosis& diagnosis);

// "No victims found on node …", the status of a node whose pods are all spared.
framework::Status NoVictims(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                            cluster::NodeIndex node);

// Picks one of the least harmful candidates; `draw` chooses among `n` equals.
framework::Status Pick(const cluster::Cluster& cluster,
                       const std::vector<framework::PreemptionCandidate>& candidates,
                       size_t (*draw)(void*, size_t n), void* context,
                       framework::PostFilterResult* result);

}  // namespace berth::plugins::default_preemption

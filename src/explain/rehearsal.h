// Rehearsal: would all pending pods of a workload run, if something were different?
//
// Pods are placed one after the other, as the scheduler would, in a transaction that is rolled
// back. Run it on a copy of the engine's cluster: rows, orders and tables may differ afterwards,
// although the objects are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explain/report.h"
#include "explain/search.h"
#include "explain/workload.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"

namespace berth::explain {

using PodEdit = std::function<void(api::Pod&)>;

struct Trial {
  PodEdit edit;                       // of the template: pods that run are replaced too
  std::vector<cluster::PodId> moved;  // have to leave their nodes
  bool evict = false;                 // pods of lower priority may have to go
  bool first_only = false;            // find nodes for the first pod, place none
};

struct TrialResult {
  bool fits = false;
  int64_t nodes = 0;                    // on which the first pod fits, were it alone
  std::vector<std::string> examples;    // up to five of them
  std::vector<cluster::PodId> victims;  // evicted; each of them fits elsewhere
  PreemptionView preemption;            // of the first pod
  // Of the first pod that fits nowhere:
  size_t placed = 0;  // pods before it
  std::string message;
  std::set<std::string> rejected_by;
};

class Rehearsal {
 public:
  static constexpr int64_t kMaxWork = 20'000'000;

  // All outlive it.
  Rehearsal(cluster::Cluster& cluster, const framework::Profile& profile, const Workload& workload)
      : cluster_(cluster), workload_(workload), search_(cluster, profile), cycle_(profile) {}

  TrialResult Run(const Trial& trial);

  // Of the first pod, in the last run.
  const Search& search() const { return search_; }
  // A run that begins or ends beyond this much work fits nothing: nobody waits for minutes.
  bool Exhausted() const { return work_ > kMaxWork; }

 private:
  TrialResult Place(const Trial& trial);
  bool Schedule(cluster::PodId pod, bool evict, std::vector<cluster::PodId>* victims);
  bool Evict(cluster::PodId pod, std::vector<cluster::PodId>* victims);
  void Describe(TrialResult* result) const;
  void Unreserve();

  cluster::Cluster& cluster_;
  const Workload& workload_;
  Search search_;
  framework::Cycle cycle_;
  scheduler::Algorithm algorithm_{{}};
  scheduler::Attempt attempt_;
  std::vector<std::pair<cluster::PodId, cluster::NodeIndex>> placed_;
  int64_t work_ = 0;  // nodes looked at in all runs
};

}  // namespace berth::explain

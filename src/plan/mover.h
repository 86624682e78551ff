// Mover: takes pods off their nodes and lets the scheduler place their replacements.
//
// A replacement is the pod itself, pending again: it has the name of the old one, and everything
// scheduling reads is what its controller would create. Its devices are given back first, so that
// they can be allocated anew. Everything but the marks of replaced pods is undone by the
// cluster::Transaction around it; Forget undoes those.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/inventory.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"

namespace berth::plan {

// Where a pending pod went.
struct Landing {
  cluster::NodeIndex node = cluster::kNoNode;  // kNoNode: no node fits
  size_t equal_nodes = 0;                      // shared the highest score, the chosen one too
  std::string message;                         // why no node fits
  std::vector<cluster::PodId> victims;         // preempted for it; evicted already
};

class Mover {
 public:
  // All outlive the mover. `profiles` were made for the inventory's cluster.
  Mover(Inventory& inventory, scheduler::ProfileSet& profiles,
        const scheduler::AlgorithmOptions& options);

  // Random choices begin again, so that what follows goes as it went after the last Restart.
  void Restart() { algorithm_ = scheduler::Algorithm(options_); }

  // Takes the pod off its node; it is pending. REQUIRES: it has a node.
  void Evict(cluster::PodId pod);
  // Schedules the pending pod. `may_preempt`: pods of lower priority may have to go for it.
  // `explain`: says why no node fits.
  Landing Place(cluster::PodId pod, bool may_preempt, bool explain);

  // Ends a trial that is about to be rolled back: plugins forget what they reserved for pods that
  // were placed since the last call. REQUIRES: the pods are still where they were placed.
  void Forget();
  // Ends a trial that is kept.
  void Keep();

 private:
  framework::Cycle* CycleOf(const cluster::Pod& pod);
  void ReleaseDevices(const cluster::Pod& pod);
  void Unreserve(const cluster::Pod& pod, cluster::NodeIndex node);
  void TryOnce(cluster::PodId pod, framework::Cycle& cycle, bool explain, Landing* landing);
  bool Preempt(cluster::PodId pod, framework::Cycle& cycle, Landing* landing);

  cluster::Cluster& cluster_;
  scheduler::ProfileSet& profiles_;
  const scheduler::AlgorithmOptions options_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
  std::vector<std::pair<cluster::PodId, cluster::NodeIndex>> placed_;  // since Forget or Keep
  std::vector<std::pair<cluster::PodId, api::Time>> started_;          // start times before Evict
};

}  // namespace berth::plan

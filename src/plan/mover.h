// Mover: takes pods off their nodes and lets the scheduler place their replacements.
//
// A replacement is the pod itself, pending again: it has the name of the old one, and everything
// scheduling reads is what its controller would create. Its devices are given back first, so that
// they can be allocated anew, and a generic ephemeral volume is created again where its storage
// class waits for a consumer. The cluster::Transaction around it undoes placements; Forget undoes
// the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/core/persistent_volume_claim.h"
#include "cluster/table/node_set.h"
#include "plan/inventory.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"

namespace berth::plan {

// Where a pending pod went.
struct Landing {
  cluster::NodeIndex node = cluster::kNoNode;  // kNoNode: no node fits
  size_t equal_nodes = 0;                      // shared the highest score, the chosen one too
  std::vector<std::string> equal;              // their names, with ListEqual
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

  // Pods are placed on these nodes only, until further notice; null: on any. Outlives its use.
  void Restrict(const cluster::NodeSet* nodes) { within_ = nodes; }

  // Landings name the nodes that share the highest score. REQUIRES: made without classes.
  void ListEqual() { list_equal_ = true; }
  // Moves a pending pod to the node where it is said to be, without deciding.
  void Put(cluster::PodId pod, cluster::NodeIndex node) { cluster_.Assume(pod, node); }

  // A point to go back to.
  struct Mark {
    size_t placed = 0;
    size_t started = 0;
    size_t claims = 0;
  };
  Mark Now() const { return {placed_.size(), started_.size(), claims_.size()}; }
  // Ends a trial that is about to be rolled back: plugins forget what they reserved for pods that
  // were placed since `mark`. REQUIRES: the pods are still where they were placed.
  void Forget(const Mark& mark);
  // The same since the last Forget or Keep.
  void Forget() { Forget(Mark()); }
  // Ends a trial that is kept.
  void Keep();

  // Calls of Place so far.
  uint64_t Placements() const { return placements_; }

 private:
  framework::Cycle* CycleOf(const cluster::Pod& pod);
  void ReleaseDevices(const cluster::Pod& pod);
  void RenewVolumes(const cluster::Pod& pod);
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
  // Claims of ephemeral volumes as they were before Evict.
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> claims_;
  const cluster::NodeSet* within_ = nullptr;
  bool list_equal_ = false;
  uint64_t placements_ = 0;
};

}  // namespace berth::plan

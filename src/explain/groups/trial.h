// GroupTrial: what a group cycle would decide, tried on a copy of the engine's cluster.
//
// The cluster is as before after every call. The work of all calls is bounded: beyond kMaxWork
// nothing more is tried, and nothing fits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "cluster/cluster.h"
#include "scheduler/groups/group_algorithm.h"
#include "scheduler/groups/partial_placement.h"

namespace berth::explain {

class GroupTrial final : private scheduler::MemberDecider {
 public:
  static constexpr int64_t kMaxWork = 40'000'000;  // nodes looked at

  // `waiting`: the pods without a node, in the order in which they are tried; at least one.
  // `profile` is theirs. All outlive the trial.
  GroupTrial(cluster::Cluster& cluster, const framework::Profile& profile,
             std::vector<cluster::PodId> waiting);

  // The cycle. `group` may differ from the object in the cluster.
  scheduler::GroupResult Run(const api::PodGroup& group);
  bool Fits(const api::PodGroup& group) { return Run(group).status.Ok(); }
  // The same with all waiting pods changed.
  scheduler::GroupResult RunChanged(const api::PodGroup& group,
                                    const std::function<void(api::Pod&)>& edit);
  // The same with `pods` off their nodes.
  bool FitsWithout(const api::PodGroup& group, const std::vector<cluster::PodId>& pods);

  // As many of the pods as fit among `within` (null: all nodes), whatever the minimum.
  scheduler::PartialPlacement Most(const framework::NodeSet* within = nullptr);

  cluster::Cluster& cluster() { return cluster_; }
  const framework::Profile& profile() const { return cycle_.profile(); }
  const std::vector<cluster::PodId>& waiting() const { return waiting_; }
  bool Exhausted() const { return work_ > kMaxWork; }
  int64_t runs() const { return runs_; }

 private:
  cluster::NodeIndex Decide(scheduler::Attempt& attempt, const framework::NodeSet* within) override;

  cluster::Cluster& cluster_;
  framework::Cycle cycle_;
  std::vector<cluster::PodId> waiting_;
  scheduler::Algorithm algorithm_{{}};
  int64_t work_ = 0;
  int64_t runs_ = 0;
};

}  // namespace berth::explain

// PlaceMost: how many of some pods the scheduler places at once, whatever the minimum of their
// group. For reports about groups that were refused.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "framework/runtime/cycle.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"

namespace berth::scheduler {

struct PartialPlacement {
  struct Member {
    cluster::PodId pod = cluster::kNoPod;
    cluster::NodeIndex node = cluster::kNoNode;  // kNoNode: it did not fit
    std::string message;                         // why it did not
    std::set<std::string> plugins;               // that rejected nodes for it
  };
  size_t placed = 0;
  std::vector<Member> members;  // in the order in which they were tried
};

// Tries `pods` in order among the nodes `within` (null: all), each with those before it in place,
// as a group cycle does. Nominations of the pods are set aside. The cluster is as before when it
// returns. `cycle` is that of the profile of all pods.
PartialPlacement PlaceMost(framework::Cycle& cycle, cluster::Cluster& cluster, Algorithm& algorithm,
                           std::span<const cluster::PodId> pods,
                           const framework::NodeSet* within = nullptr);

}  // namespace berth::scheduler

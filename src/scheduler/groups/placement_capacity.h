// PlacementCapacity: how many pods of a group get nodes in a placement, counted instead of tried.
//
// For groups whose filters look at a node alone, pods are placed in whatever order. Where all pods
// are equal, every pod takes one of the places that are left, whichever node it prefers, so the
// number of pods placed is exact. Pods of several kinds all get nodes if a placement has as many
// places for pods that ask for the most of everything, and too few do if there are too few places
// even for each kind alone. In between the placement has to be tried.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "framework/points/pod_group.h"
#include "framework/runtime/cycle.h"

namespace berth::scheduler {

class PlacementCapacity {
 public:
  // Nothing: the group is of another kind. `cluster` is unchanged on return. REQUIRES: the group
  // has a pod, and its pods keep no nominations.
  static std::optional<PlacementCapacity> Of(framework::Cycle& cycle, cluster::Cluster& cluster,
                                             const framework::PodGroupInfo& info);

  // Bounds of the number of pods that get nodes if only `nodes` are there.
  struct Range {
    int64_t least = 0;
    int64_t most = 0;
  };
  Range Places(const framework::NodeSet& nodes) const;

 private:
  // Beyond this many, counting does not pay.
  static constexpr size_t kMaxKinds = 16;

  // Pods that are equal.
  struct Kind {
    cluster::PodId first = cluster::kNoPod;
    int64_t pods = 0;
    std::vector<int64_t> more;  // by node: how many it takes if no others come
  };

  PlacementCapacity() = default;
  bool Count(framework::Cycle& cycle, cluster::Cluster& cluster, Kind& kind);

  int64_t pods_ = 0;
  std::vector<Kind> kinds_;
  std::vector<int64_t> slots_;  // by node: how many pods it takes, whatever they ask for
};

}  // namespace berth::scheduler

// The placements of a group: which there are, and which of the feasible ones is best.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "framework/runtime/profile.h"
#include "scheduler/groups/group_result.h"
#include "scheduler/groups/group_watch.h"

namespace berth::scheduler {

// The placements of the profile's generator; without one, all nodes are the only placement. `watch`
// may be null.
GroupStatus GeneratePlacements(const framework::Profile& profile, const cluster::Cluster& cluster,
                               const framework::PodGroupInfo& info, GroupWatch* watch,
                               std::vector<framework::Placement>* placements);

class PlacementSearch {
 public:
  // Writes scores and the choice to `result`, which has the placements.
  PlacementSearch(const framework::Profile& profile, const cluster::Cluster& cluster,
                  const framework::PodGroupInfo& info, GroupWatch* watch, PlacementResult& result)
      : profile_(profile), cluster_(cluster), info_(info), watch_(watch), result_(result) {}

  // `placement` (a position) takes those of `members` that have a node.
  void AddFeasible(size_t placement, const std::vector<MemberResult>& members);
  void AddFeasible(size_t placement, std::vector<framework::ProposedAssignment> assignments);
  // REQUIRES: some placement is feasible.
  GroupStatus Choose();

 private:
  struct Feasible {
    size_t placement;
    std::vector<framework::ProposedAssignment> assignments;
  };
  GroupStatus ScorePlacements();
  framework::Status ScoreAll(const framework::ServedPlacementScore& served,
                             std::vector<int64_t>* scores) const;

  const framework::Profile& profile_;
  const cluster::Cluster& cluster_;
  const framework::PodGroupInfo& info_;
  GroupWatch* watch_;
  PlacementResult& result_;
  std::vector<Feasible> feasible_;
};

}  // namespace berth::scheduler

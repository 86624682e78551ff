#include "plugins/pod_group_pods_count/pod_group_pods_count.h"

#include <algorithm>

#include "cluster/pods/group_state.h"

namespace berth::plugins::pod_group_pods_count {

using framework::Status;

Status PodGroupPodsCount::ScorePlacement(const cluster::Cluster& cluster,
                                         const framework::PodGroupInfo& info,
                                         const framework::Placement&,
                                         std::span<const framework::ProposedAssignment> assignments,
                                         int64_t* score) const {
  *score =
      static_cast<int64_t>(cluster::PlacedMemberCount(cluster, info.group) + assignments.size());
  return {};
}

Status PodGroupPodsCount::NormalizePlacement(std::span<int64_t> scores) const {
  int64_t most = 0;
  for (const int64_t score : scores) most = std::max(most, score);
  if (most == 0) {
    return Status::Error("no pods from pod group are assigned to any of the candidate placements");
  }
  for (int64_t& score : scores) score = score * framework::kMaxNodeScore / most;
  return {};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<PodGroupPodsCount>();
}

}  // namespace berth::plugins::pod_group_pods_count

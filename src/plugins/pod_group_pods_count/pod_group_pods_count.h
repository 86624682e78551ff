// PodGroupPodsCount: the placement that takes the most pods of the group is wanted most.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "framework/points/pod_group.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::pod_group_pods_count {

inline constexpr std::string_view kName = "PodGroupPodsCount";

class PodGroupPodsCount final : public framework::PlacementScorePlugin {
 public:
  std::string_view Name() const override { return kName; }
  // Pods that have a node already count too.
  framework::Status ScorePlacement(const cluster::Cluster&, const framework::PodGroupInfo&,
                                   const framework::Placement&,
                                   std::span<const framework::ProposedAssignment> assignments,
                                   int64_t* score) const override;
  bool HasNormalizePlacement() const override { return true; }
  framework::Status NormalizePlacement(std::span<int64_t> scores) const override;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::pod_group_pods_count

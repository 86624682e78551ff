// TopologyPlacementGenerator: one placement per topology domain, for groups with a topology
// constraint.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/points/pod_group.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::topology_placement {

inline constexpr std::string_view kName = "TopologyPlacementGenerator";

class TopologyPlacement final : public framework::PlacementGeneratePlugin {
 public:
  std::string_view Name() const override { return kName; }
  // Without a constraint: `parent` itself. Nodes without the label are in no domain. Once a pod of
  // the group has a node, its domain is the only one.
  framework::Status GeneratePlacements(const cluster::Cluster&, const framework::PodGroupInfo&,
                                       const framework::Placement& parent,
                                       std::vector<framework::Placement>* out) const override;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::topology_placement

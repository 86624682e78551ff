// NodeResourcesBalancedAllocation: prefers nodes where the pod leaves all resources about equally
// used.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/runtime/profile.h"
#include "plugins/node_resources/allocation.h"

namespace berth::plugins::node_resources {

inline constexpr std::string_view kBalancedAllocationName = "NodeResourcesBalancedAllocation";

class BalancedAllocation final : public framework::PreScorePlugin, public framework::ScorePlugin {
 public:
  BalancedAllocation(const config::NodeResourcesBalancedAllocationArgs& args,
                     const cluster::Cluster& cluster, bool scores_change)
      : scored_(ResolveSpecs(cluster, args.resources)), scores_change_(scores_change) {}

  std::string_view Name() const override { return kBalancedAllocationName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodePods; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  // Skip for a pod that requests none of the resources.
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

 private:
  struct State;

  std::vector<ScoredSpec> scored_;
  const bool scores_change_;  // of the balance, instead of the balance
};

Result<std::unique_ptr<framework::Plugin>> MakeBalancedAllocation(const config::PluginArgs&,
                                                                  const framework::PluginHandle&);

}  // namespace berth::plugins::node_resources

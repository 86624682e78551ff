#include "plugins/node_resources/balanced_allocation.h"

#include <algorithm>

namespace berth::plugins::node_resources {

struct BalancedAllocation::State : framework::PluginState {
  std::vector<ScoredResource> scored;
  std::vector<ScoredResource> without;  // the pod
};

std::unique_ptr<framework::PluginState> BalancedAllocation::NewState() const {
  return std::make_unique<State>();
}

framework::Status BalancedAllocation::PreScore(const framework::CycleContext& c,
                                               framework::PluginState* state,
                                               const framework::NodeSet&) const {
  const bool asks = std::any_of(scored_.begin(), scored_.end(), [&](const ScoredSpec& spec) {
    return c.shape.on_node.Get(spec.id) != 0;
  });
  if (!asks) return framework::Status::Skip();
  CollectResources(c.cluster, scored_, c.shape.on_node, /*nonzero=*/false,
                   &static_cast<State*>(state)->scored);
  if (scores_change_) {
    State& own = *static_cast<State*>(state);
    own.without = own.scored;
    for (ScoredResource& resource : own.without) resource.request = 0;
  }
  return {};
}

void BalancedAllocation::Score(const framework::CycleContext&, const framework::PluginState* state,
                               framework::ScoreBatch& batch) const {
  const State& own = *static_cast<const State*>(state);
  if (scores_change_) {
    ScoreBalanceChange(own.scored, own.without, batch);
  } else {
    ScoreBalanced(own.scored, batch);
  }
}

Result<std::unique_ptr<framework::Plugin>> MakeBalancedAllocation(
    const config::PluginArgs& args, const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::NodeResourcesBalancedAllocationArgs>(&args);
  return std::make_unique<BalancedAllocation>(
      own ? *own : config::NodeResourcesBalancedAllocationArgs{{{"cpu", 1}, {"memory", 1}}},
      handle.cluster, handle.behaviour.balanced_allocation_scores_change);
}

}  // namespace berth::plugins::node_resources

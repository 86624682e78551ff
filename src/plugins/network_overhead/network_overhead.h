// NetworkOverhead (of scheduler-plugins): places the pods of an AppGroup near the pods that they
// talk to, by the costs between regions and zones that a NetworkTopology gives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/args/network_aware_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/app_group.h"
#include "plugins/network_overhead/network_costs.h"

namespace berth::plugins::network_overhead {

inline constexpr std::string_view kName = config::NetworkOverheadArgs::kPlugin;

// What the pods that a pod depends on mean for one node.
struct Overhead {
  int64_t satisfied = 0;  // dependencies whose cost is not above their maximum
  int64_t violated = 0;
  int64_t cost = 0;
};

class OverheadState final : public framework::PluginState {
 public:
  bool counts = false;            // otherwise all nodes are equal
  std::vector<Overhead> by_node;  // by row
};

class NetworkOverhead final : public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::ScorePlugin {
 public:
  // REQUIRES: arguments with defaults.
  explicit NetworkOverhead(const config::NetworkOverheadArgs& args) : args_(args) {}

  std::string_view Name() const override { return kName; }
  std::unique_ptr<framework::PluginState> NewState() const override {
    return std::make_unique<OverheadState>();
  }
  void BeginCycle(const framework::CycleContext&, framework::PluginState* state) const override {
    static_cast<OverheadState*>(state)->counts = false;
  }
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  // More dependencies are violated than satisfied.
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  // The lowest cost becomes 100, the highest 0; if all are 0, all stay 0.
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  const NetworkCosts* FindCosts(const cluster::Cluster& cluster) const;

  const config::NetworkOverheadArgs args_;
  mutable AppGroups groups_;
  mutable std::optional<NetworkCosts> costs_;
  mutable uint64_t costs_generation_ = UINT64_MAX;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::network_overhead

// TargetLoadPacking (of scheduler-plugins): packs pods onto nodes up to a measured use of their
// CPUs, and spreads what goes beyond.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/args/trimaran_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/measured_load.h"

namespace berth::plugins::target_load_packing {

inline constexpr std::string_view kName = config::TargetLoadPackingArgs::kPlugin;

class TargetLoadPacking final : public framework::ScorePlugin {
 public:
  // REQUIRES: valid arguments with defaults.
  explicit TargetLoadPacking(const config::TargetLoadPackingArgs& args);

  std::string_view Name() const override { return kName; }
  // When pods were scheduled is not a part of their node's state, so results are never cached:
  // DependsOn() is everything.

  // From the target up to 100 while the node stays below it, from the target down to 0 beyond; 0
  // without metrics.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

 private:
  int64_t PredictedUse(const cluster::PodShape& shape) const;
  int64_t NotMeasuredYet(const cluster::Cluster& cluster, cluster::NodeIndex node,
                         int64_t window_end) const;
  int64_t ScoreOf(double capacity, double used) const;

  const LoadReader load_;
  double multiplier_;
  int64_t default_milli_cpu_ = 0;
  double target_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::target_load_packing

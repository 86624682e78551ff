// LoadVariationRiskBalancing (of scheduler-plugins): prefers nodes whose measured load is low and
// steady.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/args/trimaran_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/measured_load.h"

namespace berth::plugins::load_variation_risk_balancing {

inline constexpr std::string_view kName = config::LoadVariationRiskBalancingArgs::kPlugin;

class LoadVariationRiskBalancing final : public framework::ScorePlugin {
 public:
  // `cluster` gets columns for CPU and memory. REQUIRES: arguments with defaults.
  LoadVariationRiskBalancing(const config::LoadVariationRiskBalancingArgs& args,
                             cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }

  // 100 without load, 0 when average and deviation are both at the node's allocatable amount; of
  // CPU and memory the lower score. 0 without metrics.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

 private:
  double ScoreOf(const ResourceLoad& load, double capacity, double request) const;

  const LoadReader load_;
  const double margin_;
  const double sensitivity_;
  cluster::ResourceId cpu_;
  cluster::ResourceId memory_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::load_variation_risk_balancing

// LowRiskOverCommitment (of scheduler-plugins): prefers nodes where pods are least likely to use
// more than they requested, by the limits of the pods and by the measured load.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/args/trimaran_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/load_amounts.h"
#include "plugins/common/measured_load.h"

namespace berth::plugins::low_risk_over_commitment {

inline constexpr std::string_view kName = config::LowRiskOverCommitmentArgs::kPlugin;

// The amounts of one resource on one node.
struct Commitment {
  int64_t capacity = 0;
  int64_t request = 0;  // of all pods and the one to place, not above the capacity
  int64_t limit = 0;
  int64_t request_without = 0;  // without the pod to place, not above the capacity
  int64_t limit_without = 0;
};

class LowRiskState final : public framework::PluginState {
 public:
  LoadAmounts requests;
  LoadAmounts limits;
};

class LowRiskOverCommitment final : public framework::PreScorePlugin,
                                    public framework::ScorePlugin {
 public:
  // `cluster` gets columns for CPU and memory. REQUIRES: arguments with defaults.
  LowRiskOverCommitment(const config::LowRiskOverCommitmentArgs& args, cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodePods; }
  std::unique_ptr<framework::PluginState> NewState() const override {
    return std::make_unique<LowRiskState>();
  }
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  // 100 without risk. 0 without metrics, and for pods without requests and limits.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

  // The probability that the use of the resource, with this average and deviation (parts of the
  // capacity), exceeds what the pods on the node requested.
  static double RiskOfLoad(double average, double deviation, const Commitment& node);

 private:
  double RiskOf(const Commitment& node, const ResourceLoad& load, double capacity,
                double limit_weight) const;
  double ScoreOf(const framework::CycleContext&, const LowRiskState&, cluster::NodeIndex,
                 const MeasuredLoad&) const;

  const LoadReader load_;
  double smoothing_;  // multiplies the measured deviation
  double cpu_weight_ = 0.5;
  double memory_weight_ = 0.5;
  cluster::ResourceId cpu_;
  cluster::ResourceId memory_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::low_risk_over_commitment

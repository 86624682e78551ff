// LoadAware: keeps pods off nodes that are busy, by thresholds per band of priorities, and prefers
// nodes with the lowest use. After Koordinator's plugin of the same purpose.
//
// Not a plugin of kube-scheduler. Use is what the source of metrics measured, plus an estimate for
// pods that have come since (assumed ones too) and for the pod itself, in percent of what is
// allocatable. With hysteresis, a node whose measured use has reached a threshold stays closed to
// the band until it is some points below. A node that was not measured is never rejected, and
// scores the mean of the others.
//
// BeginCycle brings a summary per row up to date for rows that changed; Filter and Score read the
// summary and the pod alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "config/args/load_aware_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/measured_load.h"

namespace berth::plugins::load_aware {

inline constexpr std::string_view kName = config::LoadAwareArgs::kPlugin;

enum Resource : uint8_t { kCpu, kMemory };
inline constexpr size_t kResources = 2;
using PerResource = std::array<double, kResources>;

class LoadAware final : public framework::FilterPlugin, public framework::ScorePlugin {
 public:
  // REQUIRES: valid arguments, with defaults.
  LoadAware(const config::LoadAwareArgs& args, cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodePods; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  // Unresolvable: what pods on the node really use is unknown, so removing some may not help.
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

  // The percent that stay unused, by weight; -1: not measured.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  struct Band {
    int64_t min_priority = INT64_MIN;
    std::array<double, kResources> thresholds;  // infinite: none
  };
  // What is known of a row.
  struct Row {
    bool measured = false;
    int64_t sample = 0;                    // window_end of the last sample
    std::array<bool, kResources> known{};  // of the resources
    PerResource percent{};                 // measured
    PerResource used{};                    // with the pods that came since
    PerResource allocatable{};
    uint32_t closed = 0;  // bits: band * kResources + resource
  };
  struct State;

  void Refresh(const cluster::Cluster& cluster, cluster::NodeIndex n, Row* row) const;
  PerResource EstimateOf(const cluster::PodShape& shape) const;
  const Band& BandOf(int32_t priority) const;
  // The percent of the row's use with the pod.
  static double With(const Row& row, const PerResource& pod, size_t resource) {
    return row.allocatable[resource] <= 0
               ? 0
               : row.used[resource] + 100 * pod[resource] / row.allocatable[resource];
  }

  const LoadReader load_;
  std::vector<Band> bands_;  // by min_priority, highest first
  const double hysteresis_;
  PerResource estimated_percent_{};
  PerResource estimated_default_{};
  PerResource weights_{};
  const int64_t unmeasured_seconds_;
  // Changed by BeginCycle alone.
  mutable std::vector<Row> rows_;
  mutable uint64_t position_ = 0;  // in Cluster::Changes()
  mutable bool began_ = false;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::load_aware

// GpuFragmentation: places pods where they leave the fewest GPUs that expected pods cannot use
// (fragmentation gradient descent), and keeps pods off nodes whose GPUs are free only in parts.
//
// Not a plugin of kube-scheduler. The score is the growth of the node's fragmentation
// (plugins/common/gpu_fragmentation.h); nodes without GPUs cost nothing. The expected workload
// comes from the arguments, or is learned from the pods of the cluster: again when their number has
// changed by an eighth, at the beginning of a cycle.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/args/gpu_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/gpu_fragmentation.h"

namespace berth::plugins::gpu_fragmentation {

inline constexpr std::string_view kName = config::GpuFragmentationArgs::kPlugin;
inline constexpr std::string_view kNoGpu = "node(s) had no GPUs with enough free shares";

class GpuFragmentation final : public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::ScorePlugin,
                               public framework::ClassAwarePlugin {
 public:
  // REQUIRES: valid arguments, with defaults.
  GpuFragmentation(const config::GpuFragmentationArgs& args, cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override {
    const uint32_t node = framework::kOnNodeObject | framework::kOnNodePods;
    return learns_ ? node | framework::kOnNodeCount : node;
  }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  // Skip: the pod takes no GPU.
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back(kNoGpu);
  }

  // By how much the fragmentation grows, in thousandths of a share of a GPU.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

  // The version of what was learned.
  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;

 private:
  void Learn(const cluster::Cluster& cluster) const;
  double CostOf(const FreeNode& node) const;

  const GpuReader gpus_;
  const bool learns_;
  const double lookahead_;
  // Changed by BeginCycle alone.
  mutable ExpectedWorkload workload_;
  mutable size_t learned_from_ = 0;  // pods
  mutable int64_t version_ = 0;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::gpu_fragmentation

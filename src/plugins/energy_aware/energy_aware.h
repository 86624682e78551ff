// EnergyAware: places pods where they add the least power, at the price of the node's zone.
//
// Not a plugin of kube-scheduler. The cost of a node is what it draws with the pod less what it
// draws without, by the model of its class (plugins/common/node_power.h): the growth of its CPUs
// and GPUs and, if it has no pods and sleeps, the idle power of all of it. A node without a model
// scores the mean of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "config/args/gpu_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/gpus.h"
#include "plugins/common/node_power.h"

namespace berth::plugins::energy_aware {

inline constexpr std::string_view kName = config::EnergyAwareArgs::kPlugin;

class EnergyAware final : public framework::ScorePlugin {
 public:
  // REQUIRES: valid arguments, with defaults.
  EnergyAware(config::EnergyAwareArgs args, cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodePods; }

  // The watts that the pod adds, times the multiplier of the zone, in thousandths.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  // Null: none.
  const config::NodePowerSpec* ModelOf(cluster::NodeIndex n) const;
  double MultiplierOf(cluster::NodeIndex n) const;

  const config::EnergyAwareArgs args_;
  const GpuReader gpus_;
  // Columns of the cluster, which live as long as it does.
  const cluster::LabelColumn& classes_;
  const cluster::LabelColumn& zones_;
  std::vector<std::pair<cluster::StringId, const config::NodePowerSpec*>> models_;
  const config::NodePowerSpec* other_ = nullptr;  // of nodes of no such class
  std::vector<std::pair<cluster::StringId, double>> multipliers_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::energy_aware

#include "plugins/energy_aware/energy_aware.h"

#include <algorithm>
#include <utility>

#include "base/wrap.h"
#include "plugins/common/lowest_cost.h"

namespace berth::plugins::energy_aware {

EnergyAware::EnergyAware(config::EnergyAwareArgs args, cluster::Cluster& cluster)
    : args_(std::move(args)),
      gpus_(args_, cluster),
      classes_(cluster.Labels(cluster.Strings().Intern(args_.class_label))),
      zones_(cluster.Labels(cluster.Strings().Intern(args_.zone_label))) {
  cluster.TrackResource(cluster::kCpu);
  for (const config::NodePowerSpec& model : args_.models) {
    if (model.node_class.empty()) {
      other_ = &model;
    } else {
      models_.emplace_back(cluster.Strings().Intern(model.node_class), &model);
    }
  }
  for (const auto& [zone, factor] : args_.zone_multipliers) {
    multipliers_.emplace_back(cluster.Strings().Intern(zone), factor);
  }
}

const config::NodePowerSpec* EnergyAware::ModelOf(cluster::NodeIndex n) const {
  const cluster::StringId value = classes_.values[classes_.codes[n]];
  for (const auto& [name, model] : models_) {
    if (name == value) return model;
  }
  return other_;
}

double EnergyAware::MultiplierOf(cluster::NodeIndex n) const {
  const cluster::StringId value = zones_.values[zones_.codes[n]];
  for (const auto& [zone, factor] : multipliers_) {
    if (zone == value) return factor;
  }
  return 1;
}

void EnergyAware::Score(const framework::CycleContext& c, const framework::PluginState*,
                        framework::ScoreBatch& batch) const {
  const GpuDemand demand = gpus_.DemandOf(c.shape);
  const cluster::ResourceColumn& cpu = *c.cluster.Resource(cluster::kCpu);
  int64_t* scores = batch.Scores();
  FreeGpus gpus;
  batch.ForEach([&](cluster::NodeIndex n) {
    const config::NodePowerSpec* model = ModelOf(n);
    if (model == nullptr) {
      scores[n] = kUnknownCost;
      return;
    }
    gpus_.Read(c.cluster, n, &gpus);
    const auto count = static_cast<int64_t>(gpus.free.size());
    NodeUse use{.milli_cpu_allocatable = cpu.allocatable[n],
                .milli_cpu_used = cpu.requested[n],
                .gpus = count,
                .gpus_used = count - gpus.Whole(),
                .has_pods = !c.cluster.Record(n).pods.empty()};
    const double before = WattsOf(*model, use);
    gpus.Take(demand);
    use.milli_cpu_used = WrapAdd(use.milli_cpu_used, c.shape.on_node.cpu);
    use.gpus_used = count - gpus.Whole();
    use.has_pods = true;
    scores[n] = RawCost((WattsOf(*model, use) - before) * MultiplierOf(n));
  });
}

void EnergyAware::Normalize(const framework::CycleContext&, const framework::PluginState*,
                            const framework::NodeSet& feasible,
                            framework::ScoreColumn& column) const {
  LowestCostIsBest(feasible, column);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::EnergyAwareArgs own;
  if (const auto* given = config::OwnArgsAs<config::EnergyAwareArgs>(args)) own = *given;
  own.SetDefaults();
  std::vector<std::string> errors;
  own.Validate(errors);
  if (!errors.empty()) return Fail(errors.front());
  return std::make_unique<EnergyAware>(std::move(own), handle.cluster);
}

}  // namespace berth::plugins::energy_aware

#include "plugins/load_variation_risk_balancing/load_variation_risk_balancing.h"

#include <algorithm>
#include <cmath>

#include "base/wrap.h"
#include "plugins/common/load_amounts.h"

namespace berth::plugins::load_variation_risk_balancing {

LoadVariationRiskBalancing::LoadVariationRiskBalancing(
    const config::LoadVariationRiskBalancingArgs& args, cluster::Cluster& cluster)
    : load_(args.SourceName()),
      margin_(*args.safe_variance_margin),
      sensitivity_(*args.safe_variance_sensitivity),
      cpu_(cluster.Resources().Intern("cpu")),
      memory_(cluster.Resources().Intern("memory")) {
  cluster.TrackResource(cpu_);
  cluster.TrackResource(memory_);
}

double LoadVariationRiskBalancing::ScoreOf(const ResourceLoad& load, double capacity,
                                           double request) const {
  if (capacity <= 0) return 0;
  const double used = std::clamp(load.average * capacity / 100, 0.0, capacity);
  const double spread = std::clamp(load.deviation * capacity / 100, 0.0, capacity);
  const double average = std::clamp((used + std::max(request, 0.0)) / capacity, 0.0, 1.0);
  double deviation = std::clamp(spread / capacity, 0.0, 1.0);
  if (sensitivity_ >= 0) deviation = std::pow(deviation, 1 / sensitivity_);
  deviation = std::clamp(deviation * margin_, 0.0, 1.0);
  return (1 - (average + deviation) / 2) * 100;
}

void LoadVariationRiskBalancing::Score(const framework::CycleContext& c,
                                       const framework::PluginState*,
                                       framework::ScoreBatch& batch) const {
  const LoadAmounts request = RequestsOf(c.shape.source);
  const int64_t* cpu = c.cluster.Resource(cpu_)->allocatable.data();
  const int64_t* memory = c.cluster.Resource(memory_)->allocatable.data();
  int64_t* scores = batch.Scores();
  MeasuredLoad load;
  batch.ForEach([&](cluster::NodeIndex n) {
    scores[n] = 0;
    if (!load_.Read(c.cluster, n, &load)) return;
    const double cpu_score = load.cpu.known ? ScoreOf(load.cpu, static_cast<double>(cpu[n]),
                                                      static_cast<double>(request.milli_cpu))
                                            : 0;
    const double memory_score = load.memory.known
                                    ? ScoreOf(load.memory, static_cast<double>(memory[n]) * kMebi,
                                              static_cast<double>(request.memory) * kMebi)
                                    : 0;
    const bool both = load.cpu.known && load.memory.known;
    scores[n] = TruncToInt64(
        std::round(both ? std::min(cpu_score, memory_score) : std::max(cpu_score, memory_score)));
  });
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::LoadVariationRiskBalancingArgs own;
  if (const auto* given = config::OwnArgsAs<config::LoadVariationRiskBalancingArgs>(args)) {
    own = *given;
  }
  own.SetDefaults();
  return std::make_unique<LoadVariationRiskBalancing>(own, handle.cluster);
}

}  // namespace berth::plugins::load_variation_risk_balancing

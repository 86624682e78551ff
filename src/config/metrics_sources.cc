#include "config/metrics_sources.h"

#include <algorithm>
#include <optional>

#include "config/args/load_aware_args.h"
#include "config/args/trimaran_args.h"

namespace berth::config {
namespace {

MetricsSource SourceOf(const TrimaranSpec& spec) {
  MetricsSource source;
  source.name = spec.SourceName();
  const std::string watcher = spec.watcher_address.value_or("");
  if (!watcher.empty()) {
    source.type = MetricsSource::Type::kLoadWatcher;
    source.address = watcher;
  } else if (spec.metric_provider.type == "Prometheus") {
    source.type = MetricsSource::Type::kPrometheus;
    source.address = spec.PrometheusAddress();
    source.token = spec.metric_provider.token.value_or("");
    source.insecure_skip_verify = spec.metric_provider.insecure_skip_verify.value_or(false);
    source.queries = DefaultMetricsQueries();
  }
  return source;
}

std::optional<MetricsSource> SourceOf(const PluginArgs& args) {
  if (const auto* own = OwnArgsAs<TargetLoadPackingArgs>(args)) return SourceOf(*own);
  if (const auto* own = OwnArgsAs<LoadVariationRiskBalancingArgs>(args)) return SourceOf(*own);
  if (const auto* own = OwnArgsAs<LowRiskOverCommitmentArgs>(args)) return SourceOf(*own);
  if (const auto* own = OwnArgsAs<PeaksArgs>(args)) return SourceOf(own->Source());
  if (const auto* own = OwnArgsAs<LoadAwareArgs>(args)) return own->metrics.Source();
  return std::nullopt;
}

}  // namespace

std::vector<MetricsQuery> DefaultMetricsQueries() {
  return {{"CPU", "AVG", "avg_over_time(instance:node_cpu:ratio[15m])"},
          {"Memory", "AVG", "avg_over_time(instance:node_memory_utilisation:ratio[15m])"},
          {"CPU", "STD", "stddev_over_time(instance:node_cpu:ratio[15m])"},
          {"Memory", "STD", "stddev_over_time(instance:node_memory_utilisation:ratio[15m])"}};
}

std::vector<MetricsSource> MetricsSourcesOf(std::span<const ResolvedProfile> profiles) {
  std::vector<MetricsSource> sources;
  for (const ResolvedProfile& profile : profiles) {
    for (const PluginConfig& entry : profile.plugin_config) {
      auto source = SourceOf(entry.args);
      if (!source) continue;
      const bool known = std::any_of(sources.begin(), sources.end(),
                                     [&](const auto& other) { return other.name == source->name; });
      if (!known) sources.push_back(std::move(*source));
    }
  }
  return sources;
}

}  // namespace berth::config

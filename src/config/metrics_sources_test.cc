#include "config/metrics_sources.h"

#include <gtest/gtest.h>

namespace berth::config {
namespace {

std::vector<MetricsSource> SourcesOf(std::string_view plugins, std::string_view args) {
  const std::string text = fmt::format(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {{score: {{enabled: [{}]}}}}
  pluginConfig: [{}]
)",
                                       plugins, args);
  const auto config = Load(text, Behaviour());
  EXPECT_TRUE(config) << config.error().Message();
  const auto resolved = Resolve(*config);
  EXPECT_TRUE(resolved) << resolved.error().Message();
  return MetricsSourcesOf(resolved->profiles);
}

TEST(MetricsSources, NoneByDefault) { EXPECT_TRUE(SourcesOf("", "").empty()); }

TEST(MetricsSources, PluginsWithOneSourceShareIt) {
  const auto sources =
      SourcesOf("{name: TargetLoadPacking}, {name: LoadVariationRiskBalancing}", "");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].type, MetricsSource::Type::kMetricsServer);
  EXPECT_EQ(sources[0].name, "KubernetesMetricsServer");
}

TEST(MetricsSources, PrometheusAndLoadWatcher) {
  const auto sources = SourcesOf(
      "{name: TargetLoadPacking}, {name: Peaks}",
      "{name: TargetLoadPacking, args: {metricProvider: {type: Prometheus, token: t}}}, "
      "{name: Peaks, args: {WatcherAddress: 'http://w:2020', NodePowerModel: {n: {k0: 1, k1: 2, "
      "k2: 3}}}}");
  ASSERT_EQ(sources.size(), 2u);
  const MetricsSource& watcher = sources[0].address == "http://w:2020" ? sources[0] : sources[1];
  const MetricsSource& prometheus = sources[0].address == "http://w:2020" ? sources[1] : sources[0];
  EXPECT_EQ(watcher.type, MetricsSource::Type::kLoadWatcher);
  EXPECT_EQ(prometheus.type, MetricsSource::Type::kPrometheus);
  EXPECT_EQ(prometheus.address, "http://prometheus-k8s:9090");
  EXPECT_EQ(prometheus.token, "t");
  EXPECT_TRUE(prometheus.insecure_skip_verify) << "the default of the originals";
  EXPECT_EQ(prometheus.queries, DefaultMetricsQueries());
}

}  // namespace
}  // namespace berth::config

#include "server/metrics/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProcessMetrics, TheSystemSaysSomethingOfThisProcess) {
  const ProcessStats stats = ReadProcessStats();
  EXPECT_GE(stats.cpu_seconds, 0);
  EXPECT_GT(stats.resident_bytes, 0);
  EXPECT_GT(stats.virtual_bytes, stats.resident_bytes);
  EXPECT_GT(stats.open_fds, 2);
  EXPECT_GT(stats.max_fds, 2);
  EXPECT_GT(stats.start_time_seconds, 1.6e9);
}

TEST(ProcessMetrics, HelpHasNoStability) {
  Registry registry;
  AddProcessMetrics(registry);
  const std::string text = registry.WriteText();
  EXPECT_THAT(text, HasSubstr("# HELP process_open_fds Number of open file descriptors.\n# TYPE "
                              "process_open_fds gauge\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
}

TEST(RegistryMetrics, FamiliesAreCountedByStability) {
  Registry registry(RegistryOptions{.disabled = {"b"}});
  registry.AddCounter({"a", "A.", Stability::kAlpha});
  registry.AddCounter({"b", "B.", Stability::kAlpha});
  registry.AddCounter({"c", "C.", Stability::kStable});
  registry.AddCounter({"e", "E.", Stability::kStable}).Describe({.help = "E.", .shown = false});
  AddRegistryMetrics(registry);
  const std::string text = registry.WriteText();
  for (const char* line :
       {"\ndisabled_metrics_total 1\n", "\nhidden_metrics_total 0\n",
        "\nregistered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 2\n",
        "\nregistered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n",
        "\nregistered_metrics_total{deprecated_version=\"\",stability_level=\"STABLE\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ComponentMetrics, FeaturesAndVersions) {
  Registry registry;
  ComponentInfo info;
  info.git_version = "v1.34.10";
  info.berth_version = "0.1.0";
  info.berth_commit = "6a116e9d1c2b";
  info.features = {{"AllAlpha", "ALPHA", false}, {"ContextualLogging", "", true}};
  ComponentMetrics component(registry);
  component.Set(info);
  std::string text = registry.WriteText();
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 0\n"
                              "kubernetes_feature_enabled{name=\"ContextualLogging\",stage=\"\"} "
                              "1\n"));
  EXPECT_THAT(text, HasSubstr("version_info{binary=\"1.34\",component=\"kube\",emulation=\"1.34\","
                              "min_compat=\"1.33\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.34.10\""));
  EXPECT_THAT(text, HasSubstr("major=\"1\",minor=\"34\""));
  EXPECT_THAT(text, HasSubstr("berth_build_info{commit=\"6a116e9d1c2b\",version=\"0.1.0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# HELP kubernetes_build_info [ALPHA] "));

  info.git_version = "v1.36.4";
  info.release = config::Release::k1_36;
  info.features = {{"AllAlpha", "ALPHA", true}};
  component.Set(info);
  text = registry.WriteText();
  EXPECT_THAT(text, HasSubstr("# HELP kubernetes_build_info [BETA] "));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.36.4\""));
  EXPECT_THAT(text, Not(HasSubstr("v1.34.10")));
  EXPECT_THAT(text, Not(HasSubstr("ContextualLogging")));
}

TEST(LeaderMetrics, SayWhoLeads) {
  Registry registry;
  LeaderMetrics leader(registry, "kube-scheduler");
  EXPECT_THAT(registry.WriteText(),
              HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
  EXPECT_THAT(registry.WriteText(), Not(HasSubstr("berth_leader_epoch{")));
  leader.SetLeading(7);
  EXPECT_THAT(registry.WriteText(),
              HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 1\n"));
  EXPECT_THAT(registry.WriteText(), HasSubstr("berth_leader_epoch{name=\"kube-scheduler\"} 7\n"));
}

TEST(ClientMetrics, LabelsAreInClientGosOrder) {
  Registry registry;
  ClientMetrics client(registry);
  client.Answered("GET", "127.0.0.1:6443", "200", 0);
  client.Finished("GET", "127.0.0.1:6443", 0.02, 5000);
  client.HeldBack("POST", "127.0.0.1:6443", 0.001);
  const std::string text = registry.WriteText();
  EXPECT_THAT(text, HasSubstr("rest_client_requests_total{code=\"200\",host=\"127.0.0.1:6443\","
                              "method=\"GET\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("rest_client_request_duration_seconds_bucket{host=\"127.0.0.1:6443\","
                              "verb=\"GET\",le=\"0.025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("rest_client_response_size_bytes_bucket{host=\"127.0.0.1:6443\","
                              "verb=\"GET\",le=\"1.048576e+06\"} 1\n"));
}

}  // namespace
}  // namespace berth::server

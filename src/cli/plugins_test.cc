#include "cli/plugins.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/explain/what_if.h"

namespace berth::cli {
namespace {

using loader::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PluginReportsTest, TellsOfTheFirstTheTenthAndTheHundredthAndCountsAll) {
  std::vector<std::string> lines;
  PluginReports reports([&](bool, std::string_view plugin, const std::string& line) {
    lines.push_back(std::string(plugin) + ": " + line);
  });
  int counted = 0;
  reports.set_count([&](const Fault&) { ++counted; });
  for (int i = 0; i < 120; ++i) {
    reports.Faulted({"A", "Filter", Fault::Kind::kError, "no " + std::to_string(i)});
  }
  reports.Faulted({"A", "Filter", Fault::Kind::kOverrun, "took long"});
  reports.Faulted({"B", "Filter", Fault::Kind::kError, "no"});
  reports.Logged("B", "hello");
  EXPECT_THAT(lines,
              ElementsAre("A: Filter: error: no 0", "A: Filter: error: no 9 (10 times so far)",
                          "A: Filter: error: no 99 (100 times so far)",
                          "A: Filter: overrun: took long", "B: Filter: error: no", "B: hello"));
  EXPECT_EQ(counted, 122);
}

TEST(PluginReportsTest, ACallThatDoesNotReturnIsToldOfOnce) {
  std::vector<std::string> lines;
  PluginReports reports([&](bool, std::string_view plugin, const std::string& line) {
    lines.push_back(std::string(plugin) + ": " + line);
  });
  const int hangs = 0, returns = 0;
  reports.Entered(&hangs, "A", "Permit");
  reports.Entered(&returns, "B", "Filter");
  reports.Left(&returns);
  const auto now = PluginReports::Clock::now();
  reports.LookForHanging(now);
  EXPECT_THAT(lines, IsEmpty()) << "not yet";
  reports.LookForHanging(now + PluginReports::kHangs);
  reports.LookForHanging(now + 2 * PluginReports::kHangs);
  EXPECT_THAT(lines, ElementsAre("A: Permit: hang: has not returned for 5 s; no pod is scheduled "
                                 "until it does"));
}

TEST(PluginsTest, ConfigurationsMayEnableWhatWasLoaded) {
  const auto loaded = config::Load(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- plugins: {score: {enabled: [{name: QuietNodes, weight: 7}]}}\n"
      "  pluginConfig: [{name: QuietNodes, args: {groupSize: 3}}]\n");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().Message();
  EXPECT_FALSE(config::Resolve(*loaded).has_value()) << "nothing was loaded";

  const auto plugins = LoadPlugins({BERTH_PLUGINS_DIR}, "test");
  ASSERT_TRUE(plugins.has_value()) << plugins.error().Message();
  const auto resolved = config::Resolve(*loaded, plugins->Resolve());
  ASSERT_TRUE(resolved.has_value()) << resolved.error().Message();
  const config::ResolvedProfile& profile = resolved->profiles.front();
  EXPECT_EQ(profile.At(config::ExtensionPoint::kScore).back(),
            (config::EnabledPlugin{"QuietNodes", 7}));
  EXPECT_TRUE(profile.At(config::ExtensionPoint::kPermit).empty());

  const auto missing = LoadPlugins({"no-such.so"}, "test");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().Message(), HasSubstr("no-such.so"));
}

TEST(PluginsTest, WhatIfsAreWorkedOutWithWhatWasLoaded) {
  const auto plugins = LoadPlugins({BERTH_PLUGINS_DIR}, "test");
  ASSERT_TRUE(plugins.has_value()) << plugins.error().Message();
  const auto loaded = config::Load(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- plugins: {multiPoint: {enabled: [{name: QuietNodes, weight: 10}]}}\n");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().Message();
  const auto resolved = config::Resolve(*loaded, plugins->Resolve());
  ASSERT_TRUE(resolved.has_value()) << resolved.error().Message();

  berth::explain::WhatIfRequest request;
  for (const char* labels :
       {"street, labels: {noisy: \"1\", quietness: \"9\"}", "library, labels: {quietness: \"8\"}",
        "office, labels: {quietness: \"4\"}"}) {
    request.manifests += std::string("---\napiVersion: v1\nkind: Node\nmetadata: {name: ") +
                         labels +
                         "}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"110\"}}\n";
  }
  request.manifests +=
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: reader, labels: {quiet: \"true\"}}\n"
      "spec: {containers: [{name: c, image: i}]}\n";
  const auto answer = AnswerWhatIf({}, resolved->effective, {}, request, plugins->extra);
  ASSERT_TRUE(answer.has_value()) << answer.error().Message();
  ASSERT_EQ(answer->placements.size(), 1u);
  EXPECT_EQ(answer->placements[0].node, "library") << answer->placements[0].message;
  EXPECT_EQ(answer->placements[0].feasible, 2);

  const auto refused = AnswerWhatIf({}, resolved->effective, {}, request);
  ASSERT_FALSE(refused.has_value()) << "nothing was loaded";
  EXPECT_THAT(refused.error().Message(), HasSubstr("QuietNodes"));
}

}  // namespace
}  // namespace berth::cli

#include "cli/plugins.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using loader::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace berth::cli

#include "config/v1beta3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Text(std::string_view version, std::string_view rest) {
  return "apiVersion: kubescheduler.config.k8s.io/" + std::string(version) +
         "\nkind: KubeSchedulerConfiguration\n" + std::string(rest);
}

AnyVersion MustLoad(std::string_view rest) {
  auto loaded = LoadAnyVersion(Text("v1beta3", rest));
  EXPECT_TRUE(loaded) << loaded.error().Message();
  return loaded ? *loaded : AnyVersion();
}

std::string LoadError(std::string_view version, std::string_view rest) {
  const auto loaded = LoadAnyVersion(Text(version, rest));
  return loaded ? "" : loaded.error().Message();
}

std::vector<std::string> Names(const std::vector<Plugin>& plugins) {
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

TEST(V1beta3, AnEmptyFileIsTheDefaultOfV1) {
  const AnyVersion loaded = MustLoad("");
  EXPECT_EQ(loaded.config, Default());
  EXPECT_TRUE(loaded.deprecated);
  EXPECT_THAT(loaded.changes, IsEmpty());
  EXPECT_THAT(loaded.Warnings(),
              ElementsAre("kubescheduler.config.k8s.io/v1beta3 is deprecated since v1.26 and "
                          "unknown to kube-scheduler since v1.29: convert the file with berth "
                          "config convert"));
}

TEST(V1beta3, ReadsTheFieldsOfV1) {
  const std::string_view rest =
      "parallelism: 4\n"
      "leaderElection: {leaderElect: false, leaseDuration: 30s}\n"
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins: {score: {disabled: [{name: ImageLocality}]}}\n"
      "  pluginConfig:\n"
      "  - name: InterPodAffinity\n"
      "    args: {hardPodAffinityWeight: 7}\n"
      "extenders: [{urlPrefix: 'http://x', filterVerb: f}]\n";
  const auto current = Load(Text("v1", rest));
  ASSERT_TRUE(current);
  EXPECT_EQ(MustLoad(rest).config, *current);
}

TEST(V1beta3, FilesOfV1AreReadAsBeforeAndWithoutAWord) {
  const auto loaded = LoadAnyVersion(Text("v1", "parallelism: 3\n"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.parallelism, 3);
  EXPECT_FALSE(loaded->deprecated);
  EXPECT_THAT(loaded->Warnings(), IsEmpty());
}

TEST(V1beta3, LoadItselfStaysWithV1) {
  const auto loaded = Load(Text("v1beta3", ""));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().Message(), HasSubstr("is registered for version"));
}

TEST(V1beta3, ArgumentsMayBeOfEitherVersion) {
  const std::string rest =
      "profiles:\n"
      "- pluginConfig:\n"
      "  - name: NodeAffinity\n"
      "    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeAffinityArgs}\n"
      "  - name: InterPodAffinity\n"
      "    args:\n"
      "      apiVersion: kubescheduler.config.k8s.io/v1beta3\n"
      "      kind: InterPodAffinityArgs\n"
      "      hardPodAffinityWeight: 9\n";
  for (const char* version : {"v1beta3", "v1"}) {
    const auto loaded = LoadAnyVersion(Text(version, rest));
    ASSERT_TRUE(loaded) << loaded.error().Message();
    EXPECT_TRUE(loaded->deprecated) << version;
    const auto resolved = Resolve(loaded->config);
    ASSERT_TRUE(resolved);
    EXPECT_EQ(resolved->profiles[0]
                  .ArgsOf<InterPodAffinityArgs>("InterPodAffinity")
                  ->hard_pod_affinity_weight,
              9);
  }
}

TEST(V1beta3, Mistakes) {
  struct Row {
    const char* what;
    const char* version;
    const char* rest;
    const char* want;
  };
  const Row rows[] = {
      {"fields that came with v1", "v1beta3",
       "delayCacheUntilActive: true\nprofiles: [{percentageOfNodesToScore: 5}]\n",
       "strict decoding error: unknown field \"delayCacheUntilActive\", unknown field "
       "\"profiles[0].percentageOfNodesToScore\""},
      {"a field nobody has", "v1beta3", "foo: 1\n", "strict decoding error: unknown field \"foo\""},
      {"a value out of range", "v1beta3", "parallelism: -1\n",
       "parallelism: Invalid value: -1: should be an integer value greater than zero"},
      {"an older version", "v1beta2", "",
       "no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta2\" in scheme "
       "\"pkg/scheduler/apis/config/scheme/scheme.go:29\""},
      {"a removed plugin in a file of v1", "v1",
       "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]\n",
       "profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in "
       "version \"v1\" (KubeSchedulerConfiguration is version "
       "\"kubescheduler.config.k8s.io/v1\")"},
  };
  for (const Row& row : rows) EXPECT_EQ(LoadError(row.version, row.rest), row.want) << row.what;
}

TEST(V1beta3, RemovedPluginsAreLeftOutWhereTheirHeirRunsAnyway) {
  const AnyVersion loaded = MustLoad(
      "profiles:\n"
      "- plugins:\n"
      "    filter:\n"
      "      enabled: [{name: EBSLimits}, {name: NodePorts}]\n"
      "      disabled: [{name: GCEPDLimits}]\n"
      "    score: {enabled: [{name: SelectorSpread, weight: 9}]}\n"
      "  pluginConfig: [{name: SelectorSpread}]\n");
  const Plugins& plugins = loaded.config.profiles[0].plugins;
  EXPECT_THAT(Names(plugins.filter.enabled), ElementsAre("NodePorts"));
  EXPECT_THAT(plugins.filter.disabled, IsEmpty());
  EXPECT_THAT(plugins.score.enabled, IsEmpty());
  EXPECT_THAT(
      loaded.changes,
      ElementsAre(
          "plugin SelectorSpread is gone since v1.25 and was left out: PodTopologySpread does its "
          "work",
          "plugin EBSLimits is gone since v1.32 and was left out: NodeVolumeLimits does its work",
          "plugin GCEPDLimits is gone since v1.32 and was left out: NodeVolumeLimits does its "
          "work"));
  EXPECT_THAT(loaded.Warnings(), SizeIs(4));
}

TEST(V1beta3, TheHeirTakesThePlaceWhereItWouldNotRun) {
  struct Row {
    const char* what;
    const char* plugins;
    std::vector<std::string> filter;
  };
  const Row rows[] = {
      {"the point starts from nothing: one heir for all",
       "filter: {disabled: [{name: '*'}], enabled: [{name: NodeName}, {name: EBSLimits}, "
       "{name: AzureDiskLimits}, {name: NodePorts}]}",
       {"NodeName", "NodeVolumeLimits", "NodePorts"}},
      {"the heir is named as well",
       "filter: {disabled: [{name: '*'}], enabled: [{name: EBSLimits}, {name: "
       "NodeVolumeLimits}]}",
       {"NodeVolumeLimits"}},
      {"the heir is switched off at the point",
       "filter: {disabled: [{name: NodeVolumeLimits}], enabled: [{name: CinderLimits}]}",
       {"NodeVolumeLimits"}},
      {"all points start from nothing",
       "multiPoint: {disabled: [{name: '*'}]}, filter: {enabled: [{name: EBSLimits}]}",
       {"NodeVolumeLimits"}},
      {"all points start from nothing but the heir",
       "multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeVolumeLimits}]}, filter: "
       "{enabled: [{name: EBSLimits}]}",
       {}},
  };
  for (const Row& row : rows) {
    const AnyVersion loaded =
        MustLoad(std::string("profiles: [{plugins: {") + row.plugins + "}}]\n");
    EXPECT_EQ(Names(loaded.config.profiles[0].plugins.filter.enabled), row.filter) << row.what;
  }
}

TEST(V1beta3, TheHeirInMultiPointTakesThePlace) {
  const AnyVersion loaded = MustLoad(
      "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
      "{name: EBSLimits}, {name: DefaultBinder}]}}}]\n");
  EXPECT_THAT(Names(loaded.config.profiles[0].plugins.multi_point.enabled),
              ElementsAre("PrioritySort", "NodeVolumeLimits", "DefaultBinder"));
  EXPECT_THAT(
      loaded.changes,
      ElementsAre("plugin EBSLimits is gone since v1.32: NodeVolumeLimits takes its place"));
}

TEST(V1beta3, PreEnqueueHadNoEffect) {
  const AnyVersion loaded =
      MustLoad("profiles: [{plugins: {preEnqueue: {disabled: [{name: SchedulingGates}]}}}]\n");
  EXPECT_EQ(loaded.config.profiles[0].plugins.pre_enqueue, PluginSet());
  EXPECT_THAT(loaded.changes,
              ElementsAre("plugins.preEnqueue has no effect in v1beta3 and was left out"));
}

}  // namespace
}  // namespace berth::config

#include "config/scheduler_plugins.h"

#include <string>

#include <gmock/gmock.h>

#include "api/codec/json.h"
#include "config/config.h"

namespace berth::config {
namespace {

// The profile's arguments of `plugin` as they are written; or the error.
std::string WrittenArgs(const std::string& plugin, const std::string& args) {
  const auto loaded = Load(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n- plugins: {multiPoint: {enabled: [{name: " +
      plugin + "}]}}\n  pluginConfig: [{name: " + plugin + ", args: {" + args + "}}]\n");
  if (!loaded) return loaded.error().Message();
  const auto resolved = Resolve(*loaded, {});
  if (!resolved) return resolved.error().Message();
  for (const PluginConfig& entry : resolved->profiles[0].plugin_config) {
    if (entry.name != plugin) continue;
    std::string text;
    api::EncodeJson(ArgsType(entry.args), ArgsData(entry.args), text);
    return text;
  }
  return "none";
}

TEST(ConfigSchedulerPlugins, ArgumentsHaveDefaults) {
  EXPECT_EQ(WrittenArgs("NodeResourcesAllocatable", ""),
            R"({"kind":"NodeResourcesAllocatableArgs","apiVersion":)"
            R"("kubescheduler.config.k8s.io/v1","resources":[{"name":"cpu","weight":1048576},)"
            R"({"name":"memory","weight":1}],"mode":"Least"})");
  EXPECT_EQ(WrittenArgs("PreemptionToleration", "minCandidateNodesAbsolute: 5"),
            R"({"kind":"PreemptionTolerationArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":5})");
  EXPECT_EQ(
      WrittenArgs("NodeResourcesAllocatable", "mode: Most, resources: [{name: cpu, weight: 2}]"),
      R"({"kind":"NodeResourcesAllocatableArgs","apiVersion":)"
      R"("kubescheduler.config.k8s.io/v1","resources":[{"name":"cpu","weight":2}],)"
      R"("mode":"Most"})");
}

TEST(ConfigSchedulerPlugins, ArgumentsOfNodeResourceTopologyMatch) {
  EXPECT_EQ(WrittenArgs("NodeResourceTopologyMatch", ""),
            R"({"kind":"NodeResourceTopologyMatchArgs","apiVersion":)"
            R"("kubescheduler.config.k8s.io/v1","scoringStrategy":{"type":"LeastAllocated",)"
            R"("resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]},)"
            R"("cacheResyncPeriodSeconds":0,"cache":{"foreignPodsDetect":"All",)"
            R"("resyncMethod":"Autodetect","informerMode":"Dedicated"}})");
  EXPECT_THAT(WrittenArgs("NodeResourceTopologyMatch", "scoringStrategy: {type: Best}"),
              testing::HasSubstr("initializing plugin \"NodeResourceTopologyMatch\": "
                                 "scoringStrategy.type: Invalid value: \"Best\": invalid "
                                 "ScoringStrategyType"));
  EXPECT_THAT(WrittenArgs("NodeResourceTopologyMatch", "cacheResyncPeriodSeconds: 5"),
              testing::HasSubstr("\"cacheResyncPeriodSeconds\":5"));
  EXPECT_THAT(WrittenArgs("NodeResourceTopologyMatch", "accuracy: exact"),
              testing::HasSubstr("accuracy: Invalid value: \"exact\": must be Exact, or absent"));
  EXPECT_THAT(WrittenArgs("NodeResourceTopologyMatch",
                          "cacheResyncPeriodSeconds: 5, discardReservedNodes: true"),
              testing::HasSubstr("\"discardReservedNodes\":true"));
}

TEST(ConfigSchedulerPlugins, ArgumentsOfNetworkAwarePlugins) {
  EXPECT_EQ(WrittenArgs("NetworkOverhead", "weightsName: NetperfCosts"),
            R"({"kind":"NetworkOverheadArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("namespaces":["default"],"weightsName":"NetperfCosts",)"
            R"("networkTopologyName":"nt-default"})");
}

TEST(ConfigSchedulerPlugins, ArgumentsOfSySched) {
  EXPECT_EQ(WrittenArgs("SySched", ""),
            R"({"kind":"SySchedArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("defaultProfileNamespace":"default","defaultProfileName":"all-syscalls"})");
  EXPECT_EQ(WrittenArgs("SySched", "defaultProfileName: \"\", defaultProfileNamespace: team"),
            R"({"kind":"SySchedArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("defaultProfileNamespace":"team","defaultProfileName":""})");
}

TEST(ConfigSchedulerPlugins, ArgumentsAreCheckedWhereTheyAreUsed) {
  const std::string in =
      "initializing profiles: creating profile for scheduler name "
      "default-scheduler: initializing plugin \"";
  EXPECT_EQ(
      WrittenArgs("NodeResourcesAllocatable", "mode: Some, resources: [{name: cpu, weight: -1}]"),
      in + "NodeResourcesAllocatable\": [resources[0].weight: Invalid value: -1: resource "
           "weight of cpu should be a positive value, got :-1, mode: Invalid value: "
           "\"Some\": invalid support ModeType]");
  EXPECT_EQ(WrittenArgs("PreemptionToleration", "minCandidateNodesPercentage: 101"),
            in + "PreemptionToleration\": [].minCandidateNodesPercentage: Invalid value: 101: not "
                 "in valid range [0, 100]");
  EXPECT_THAT(WrittenArgs("NodeResourcesAllocatable", "modes: Most"),
              testing::HasSubstr("strict decoding error: unknown field \"modes\""));
  EXPECT_THAT(WrittenArgs("PreemptionToleration",
                          "kind: NodeResourcesAllocatableArgs, apiVersion: "
                          "kubescheduler.config.k8s.io/v1"),
              testing::HasSubstr("args for plugin PreemptionToleration were not of type "
                                 "PreemptionTolerationArgs.kubescheduler.config.k8s.io, got "
                                 "NodeResourcesAllocatableArgs"));
}

TEST(ConfigSchedulerPlugins, CoschedulingArguments) {
  const auto with = [](const std::string& args) {
    const auto loaded = Load(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {permit: {enabled: [{name: Coscheduling}]}}\n"
        "  pluginConfig: [{name: Coscheduling, args: {" +
        args + "}}]\n");
    if (!loaded) return loaded.error().Message();
    const auto resolved = Resolve(*loaded, {});
    return resolved ? std::string() : resolved.error().Message();
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("permitWaitingTimeSeconds: 0"), "");
  EXPECT_THAT(with("permitWaitingTimeSeconds: -1"),
              testing::HasSubstr("initializing plugin \"Coscheduling\": permitWaitingTimeSeconds: "
                                 "Invalid value: -1: must be greater than 0"));
  EXPECT_THAT(with("podGroupBackoffSeconds: -1, podGroupRejectPercentage: 101"),
              testing::HasSubstr("[podGroupBackoffSeconds: Invalid value: -1: must be greater than "
                                 "0, podGroupRejectPercentage: Invalid value: 101: must be between "
                                 "0 and 100]"));
  EXPECT_EQ(with("mode: Permit"), "");
  EXPECT_EQ(with("mode: Group, searchSteps: 200"), "");
  EXPECT_THAT(with("mode: Batch"),
              testing::HasSubstr("mode: Invalid value: \"Batch\": must be Permit or Group"));
  EXPECT_THAT(with("searchSteps: 200"),
              testing::HasSubstr("searchSteps: Invalid value: 200: needs mode: Group"));
  EXPECT_THAT(with("mode: Group, searchSteps: 1000001"),
              testing::HasSubstr("searchSteps: Invalid value: 1000001: must be between 0 and "));
}

}  // namespace
}  // namespace berth::config

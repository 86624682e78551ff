#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"

namespace berth::sim {
namespace {

Result<std::vector<api::Object>> NoFiles(const std::string& path) {
  return Fail(path + ": no such file");
}

const std::string kHead = "apiVersion: berth.dev/v1alpha1\nkind: Scenario\n";

Result<Scenario> Parse(const std::string& rest) { return ParseScenario(kHead + rest, NoFiles); }

std::string ErrorOf(const std::string& rest) {
  const auto scenario = Parse(rest);
  return scenario ? "" : scenario.error().Message();
}

TEST(ParseScenario, ReadsEverything) {
  const auto scenario = Parse(R"(
seed: 5
duration: 2h
sampleEvery: 1m
config: scheduler.yaml
network: {writes: 1ms..9ms, watches: 3ms, cycle: exponential 2ms}
podStartup: 1s..2s
referencePod: {cpu: 2, memory: 4Gi}
nodes:
- {name: pool, count: 3, cpu: 4, memory: 8Gi, pods: 20, labels: {a: b}, taints: ["k=v:NoSchedule"], zones: [u, v]}
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}
events:
- at: 1m
  name: more
  apply: [{apiVersion: v1, kind: Namespace, metadata: {name: shop}}]
- {every: 30s, until: 10m, times: 4, delete: {kind: Pod, name: "p-*"}}
- {at: 1s, pods: {count: 2, name: job, cpu: 500m, memory: 1Gi, priority: 7, lifetime: 5s, labels: {l: m}}}
)");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().Message();
  EXPECT_EQ(scenario->seed, 5u);
  EXPECT_EQ(scenario->duration, 120 * kMinute);
  EXPECT_EQ(scenario->sample_every, kMinute);
  EXPECT_EQ(scenario->config, "scheduler.yaml");
  EXPECT_EQ(scenario->writes, *Spread::Parse("1ms..9ms"));
  EXPECT_EQ(scenario->cycle, *Spread::Parse("exponential 2ms"));
  EXPECT_EQ(scenario->pod_startup, *Spread::Parse("1s..2s"));
  EXPECT_EQ(scenario->nodes.at(0).zones.size(), 2u);
  EXPECT_EQ(scenario->objects.size(), 1u);
  ASSERT_EQ(scenario->events.size(), 3u);
  EXPECT_EQ(scenario->events[0].objects.size(), 1u);
  EXPECT_EQ(scenario->events[1].times, 4);
  const api::Pod& pod = scenario->events[2].pods->pod;
  EXPECT_EQ(pod.spec.priority, 7);
  EXPECT_EQ(pod.metadata.labels.at("l"), "m");
  EXPECT_EQ(pod.metadata.annotations.at("berth.dev/lifetime"), "5s");
  EXPECT_EQ(pod.spec.containers.at(0).resources.requests.at("cpu").MilliValue(), 500);
}

TEST(ParseScenario, ReadsFilesBesideIt) {
  const auto read = [](const std::string& path) -> Result<std::vector<api::Object>> {
    api::Node node;
    node.metadata.name = "of-" + path;
    return std::vector<api::Object>{node, api::UnknownObject{"v1", "ConfigMap", {}}};
  };
  const auto scenario = ParseScenario(
      kHead + "cluster: [dump.yaml]\nevents:\n- {at: 1s, applyFile: more.yaml}\n", read);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().Message();
  ASSERT_EQ(scenario->objects.size(), 1u) << "what scheduling does not know is left out";
  EXPECT_EQ(api::MetadataOf(scenario->objects[0])->name, "of-dump.yaml");
  EXPECT_EQ(api::MetadataOf(scenario->events[0].objects.at(0))->name, "of-more.yaml");
}

TEST(ParseScenario, JsonIsAsGood) {
  const auto scenario = ParseScenario(
      R"({"apiVersion": "berth.dev/v1alpha1", "kind": "Scenario", "seed": 9})", NoFiles);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().Message();
  EXPECT_EQ(scenario->seed, 9u);
}

TEST(ParseScenario, ErrorsNamePathAndValue) {
  struct Row {
    const char* what;
    const char* yaml;
    const char* error;
  };
  const Row rows[] = {
      {"an unknown field", "sede: 1", "unknown field \"sede\""},
      {"an unknown field in an event", "events:\n- {at: 1s, aply: []}",
       "events[0]: unknown field \"aply\""},
      {"a wrong type", "seed: x", "seed: expected an integer, got the string \"x\""},
      {"a negative seed", "seed: -3", "seed: -3 is negative"},
      {"a duration that is none", "duration: soon",
       "duration: cannot parse \"soon\" as a duration: time: invalid duration \"soon\""},
      {"no duration at all", "duration: 0s", "duration: 0s is not from 1s to 8784h0m0s"},
      {"a delay", "network: {writes: fast}",
       "network.writes: \"fast\" is no length of time; write 30s, 10s..2m or exponential 5m"},
      {"an amount", "nodes:\n- {name: a, cpu: 1x, memory: 1Gi}",
       "nodes[0].cpu: cannot parse \"1x\" as a quantity: quantities must match the regular "
       "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"a group without cpu", "nodes:\n- {name: a, memory: 1Gi}", "nodes[0].cpu: is missing"},
      {"a group without a name", "nodes:\n- {cpu: 1, memory: 1Gi}", "nodes[0].name: is missing"},
      {"a group with a bad name", "nodes:\n- {name: A_b, cpu: 1, memory: 1Gi}",
       "nodes[0].name: \"A_b\" is no name: lower case letters, digits, - and . only"},
      {"two groups of a name",
       "nodes:\n- {name: a, cpu: 1, memory: 1Gi}\n- {name: a, cpu: 1, memory: 1Gi}",
       "nodes[1].name: \"a\" is the name of another group"},
      {"too many nodes", "nodes:\n- {name: a, count: 2000000, cpu: 1, memory: 1Gi}",
       "nodes[0].count: 2000000 is not from 0 to 1000000"},
      {"a taint", "nodes:\n- {name: a, cpu: 1, memory: 1Gi, taints: [x]}",
       "nodes[0].taints[0]: \"x\" is no taint; write KEY:EFFECT or KEY=VALUE:EFFECT with the "
       "effect "
       "NoSchedule, PreferNoSchedule or NoExecute"},
      {"a kind nobody knows", "objects:\n- {apiVersion: v1, kind: Pdo, metadata: {name: a}}",
       "objects[0]: scheduling knows no kind \"Pdo\" of apiVersion \"v1\""},
      {"a typo in an object",
       "objects:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {contaners: []}}",
       "objects[0]: spec: unknown field \"contaners\""},
      {"an object without a name", "objects:\n- {apiVersion: v1, kind: Pod}",
       "objects[0]: metadata.name: is missing"},
      {"a lifetime in a template",
       "events:\n- at: 1s\n  apply:\n  - {apiVersion: batch/v1, kind: Job, metadata: {name: j}, "
       "spec: {template: {metadata: {annotations: {berth.dev/lifetime: long}}}}}",
       "events[0].apply[0]: spec.template.metadata.annotations[berth.dev/lifetime]: \"long\" is no "
       "length of time; write 30s, 10s..2m or exponential 5m"},
      {"a file that is not there", "events:\n- {at: 1s, applyFile: x.yaml}",
       "events[0].applyFile: x.yaml: no such file"},
      {"a file of the cluster that is not there", "cluster: [y.yaml]",
       "cluster[0]: y.yaml: no such file"},
      {"no time", "events:\n- {cordon: {name: a}}", "events[0]: when? Give at or every"},
      {"until without every", "events:\n- {at: 1s, until: 2s, cordon: {name: a}}",
       "events[0]: until and times belong to every"},
      {"times of nothing", "events:\n- {every: 1s, times: 0, cordon: {name: a}}",
       "events[0].times: 0 is not from 1 to 1000000"},
      {"nothing happens", "events:\n- {at: 1s}",
       "events[0]: nothing happens; give one action, such as apply or pods"},
      {"two things happen", "events:\n- {at: 1s, cordon: {name: a}, drain: {name: a}}",
       "events[0]: cordon and drain at once; give every action an event of its own"},
      {"no node", "events:\n- {at: 1s, cordon: {}}",
       "events[0].cordon: says no node; give name (\"*\" for all), selector or count"},
      {"a kind that does not scale", "events:\n- {at: 1s, scale: {kind: Pod, name: a}}",
       "events[0].scale.kind: \"Pod\" is none of Deployment, ReplicaSet, ReplicationController, "
       "StatefulSet, Job"},
      {"a negative scale", "events:\n- {at: 1s, scale: {kind: Job, name: a, replicas: -1}}",
       "events[0].scale.replicas: -1 is not from 0 to 1000000"},
      {"a rate and a number", "events:\n- {at: 1s, pods: {name: a, count: 1, perSecond: 1}}",
       "events[0].pods: give either count or perSecond"},
      {"no rate", "events:\n- {at: 1s, pods: {name: a, perSecond: 0}}",
       "events[0].pods.perSecond: 0 is not above 0 and up to 100000"},
      {"a lifetime of arrivals", "events:\n- {at: 1s, pods: {name: a, count: 1, lifetime: 2m..1m}}",
       "events[0].pods.lifetime: \"2m..1m\" ends before it begins; the shorter time comes first"},
      {"a typo in a template",
       "events:\n- {at: 1s, pods: {name: a, count: 1, template: {spc: {}}}}",
       "events[0].pods.template: unknown field \"spc\""},
      {"a delete of everything", "events:\n- {at: 1s, delete: {kind: Pod}}",
       "events[0].delete: give name (\"*\" for all) or selector"},
      {"a crash of no length", "events:\n- {at: 1s, crashScheduler: {down: 0s}}",
       "events[0].crashScheduler.down: 0s is not from 1ms to 8784h0m0s"},
      {"a resize to nothing", "events:\n- {at: 1s, resize: {nodes: {name: a}}}",
       "events[0].resize: changes nothing; give cpu, memory or pods"},
  };
  for (const Row& row : rows) EXPECT_EQ(ErrorOf(row.yaml), row.error) << row.what;
}

TEST(ParseScenario, AsksForItsOwnKind) {
  EXPECT_EQ(ParseScenario("kind: Scenario\n", NoFiles).error().Message(),
            "apiVersion: \"\" is not \"berth.dev/v1alpha1\"");
  EXPECT_EQ(ParseScenario("", NoFiles).error().Message(), "the file is empty");
  EXPECT_EQ(ParseScenario(kHead + "---\n" + kHead, NoFiles).error().Message(),
            "document 2: one is enough");
  EXPECT_EQ(ParseScenario("apiVersion: berth.dev/v1alpha1\nkind: Pod\n", NoFiles).error().Message(),
            "kind: \"Pod\" is not \"Scenario\"");
}

TEST(ParseScenario, ASelectorMustParse) {
  const std::string error = ErrorOf("events:\n- {at: 1s, cordon: {selector: 'a in ('}}");
  EXPECT_EQ(error.find("events[0].cordon.selector: \"a in (\": "), 0u) << error;
}

TEST(MatchesPattern, StarStandsForAnyText) {
  EXPECT_TRUE(MatchesPattern("web-*", "web-"));
  EXPECT_TRUE(MatchesPattern("web-*", "web-17"));
  EXPECT_TRUE(MatchesPattern("*-a-*", "x-a-b-a-c"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_FALSE(MatchesPattern("web", "web-1"));
  EXPECT_FALSE(MatchesPattern("*-b", "a-bc"));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

}  // namespace
}  // namespace berth::sim

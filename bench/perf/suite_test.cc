#include "bench/perf/suite.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::bench {
namespace {

constexpr std::string_view kSuite = R"(
- name: Basic
  defaultPodTemplatePath: ../templates/pod.yaml
  featureGates:
    DRAPartitionableDevices: true
  workloadTemplate:
  - opcode: createNodes
    countParam: $nodes
    labelNodePrepareStrategy:
      labelKey: zone
      labelValues: ["a", "b"]
  - opcode: createPods
    count: 3
    steadyState: true
    durationParam: $long
    collectMetrics: true
  - opcode: barrier
  workloads:
  - name: small
    threshold: 270
    labels: [short]
    params:
      nodes: 5
      long: 2s
  - name: other
    featureGates:
      DRAPartitionableDevices: false
    params:
      nodes: five
      long: 2s
  - name: bare
)";

TEST(SuiteTest, ReadsTestCasesAndFillsParameters) {
  const auto cases = ParseSuite(kSuite);
  ASSERT_TRUE(cases) << cases.error().Message();
  ASSERT_EQ(cases->size(), 1U);
  const PerfCase& test = cases->front();
  EXPECT_EQ(test.default_pod_template_path, "../templates/pod.yaml");
  EXPECT_EQ(test.workloads[0].threshold, 270);
  const auto ops = Resolve(test, test.workloads[0]);
  ASSERT_TRUE(ops) << ops.error().Message();
  ASSERT_EQ(ops->size(), 3U);
  EXPECT_EQ((*ops)[0].count, 5);
  EXPECT_EQ((*ops)[0].node_labels->label_values.size(), 2U);
  EXPECT_EQ((*ops)[1].count, 3);
  EXPECT_EQ((*ops)[1].duration->ns, 2'000'000'000);
  EXPECT_EQ((*ops)[2].opcode, "barrier");
}

TEST(SuiteTest, ParametersThatDoNotFitAreNamed) {
  const auto cases = ParseSuite(kSuite);
  ASSERT_TRUE(cases);
  const PerfCase& test = cases->front();
  const auto wrong = Resolve(test, test.workloads[1]);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().Message(),
            "op 0 (createNodes): countParam: $nodes is \"five\", not an integer");
  const auto missing = Resolve(test, test.workloads[2]);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().Message(),
            "op 0 (createNodes): countParam: the workload has no parameter nodes");
}

TEST(SuiteTest, GatesOfTheWorkloadWinOverThoseOfTheTestCase) {
  const auto cases = ParseSuite(kSuite);
  ASSERT_TRUE(cases);
  const PerfCase& test = cases->front();
  const config::FeatureGates none(34);
  constexpr config::Gate kGate = config::Gate::kDRAPartitionableDevices;
  EXPECT_TRUE(GatesOf(test, test.workloads[0], none).Enabled(kGate));
  EXPECT_FALSE(GatesOf(test, test.workloads[1], none).Enabled(kGate));
}

TEST(SuiteTest, AGateOfAnotherVersionIsNamedIfItIsToBeOn) {
  const auto cases = ParseSuite(
      "- name: A\n  featureGates: {GenericWorkload: false, SchedulerQueueingHints: false}\n"
      "  workloads:\n  - {name: without}\n"
      "  - {name: with, featureGates: {GenericWorkload: true}}\n");
  ASSERT_TRUE(cases) << cases.error().Message();
  const PerfCase& test = cases->front();
  EXPECT_EQ(MissingGate(test, test.workloads[0], 34), "");
  EXPECT_EQ(MissingGate(test, test.workloads[1], 37), "");
  EXPECT_EQ(MissingGate(test, test.workloads[1], 34),
            "needs feature gate GenericWorkload, which v1.34 does not have");
}

TEST(SuiteTest, RefusesWhatIsWrong) {
  struct Row {
    const char* what;
    const char* op;
    const char* says;
  };
  const Row rows[] = {
      {"an opcode nobody knows", "{opcode: createMoons}", "createMoons"},
      {"no opcode", "{count: 1}", "opcode is missing"},
      {"a field nobody knows", "{opcode: sleep, length: 1s}", "length"},
      {"a count that is a text", "{opcode: createPods, count: many}", "count"},
      {"churn in no mode", "{opcode: churn, templatePaths: [a]}", "mode"},
      {"churn that recreates nothing", "{opcode: churn, mode: recreate, templatePaths: [a]}",
       "number"},
      {"a stage nobody knows", "{opcode: barrier, stageRequirement: Done}", "Done"},
      {"metrics of pods nobody waits for",
       "{opcode: createPods, count: 1, collectMetrics: true, skipWaitToCompletion: true}",
       "skipWaitToCompletion"},
      {"labels without values", "{opcode: createNodes, count: 1, labelNodePrepareStrategy: {}}",
       "labelValues"},
      {"a rate below zero", "{opcode: deletePods, namespace: a, deletePodsPerSecond: -1}",
       "per second"},
  };
  for (const Row& row : rows) {
    const auto cases =
        ParseSuite("- name: A\n  workloadTemplate:\n  - " + std::string(row.op) + "\n");
    ASSERT_FALSE(cases) << row.what;
    EXPECT_NE(cases.error().Message().find(row.says), std::string::npos)
        << row.what << ": " << cases.error().Message();
  }
  EXPECT_FALSE(ParseSuite("name: A"));
  EXPECT_FALSE(ParseSuite("- name: A\n- name: A\n"));
  EXPECT_FALSE(ParseSuite("- name: A\n  workloads: [{name: a}, {name: a}]\n"));
  EXPECT_FALSE(ParseSuite("- workloads: []\n"));
}

TEST(SuiteTest, CountsHaveALimit) {
  const auto cases = ParseSuite(
      "- name: A\n  workloadTemplate: [{opcode: createPods, count: 10000001}]\n"
      "  workloads: [{name: a}]\n");
  ASSERT_TRUE(cases);
  EXPECT_FALSE(Resolve(cases->front(), cases->front().workloads.front()));
}

}  // namespace
}  // namespace berth::bench

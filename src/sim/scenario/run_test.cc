#include "sim/scenario/run.h"

#include <string>

#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::sim {
namespace {

constexpr char kDeployment[] = R"(
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 6
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
)";
constexpr char kNodes[] = "nodes:\n- {name: node, count: 4, cpu: 4, memory: 16Gi, zones: [a, b]}\n";

Result<ScenarioReport> TryRun(const std::string& yaml, Nanos duration = 10 * kMinute,
                              uint64_t seed = 1) {
  auto scenario = ParseScenario("apiVersion: berth.dev/v1alpha1\nkind: Scenario\n" + yaml,
                                [](const std::string& path) -> Result<std::vector<api::Object>> {
                                  return Fail(path + ": no such file");
                                });
  if (!scenario) return Fail(scenario.error());
  RunOptions options;
  options.duration = duration;
  options.seed = seed;
  options.config = config::Default();
  return RunScenario(*scenario, options);
}

ScenarioReport Play(const std::string& yaml, Nanos duration = 10 * kMinute, uint64_t seed = 1) {
  auto report = TryRun(yaml, duration, seed);
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().Message());
  return report ? *report : ScenarioReport();
}

TEST(RunScenario, SchedulesTheReplicasOfADeployment) {
  const ScenarioReport report = Play(std::string(kNodes) + kDeployment);
  EXPECT_EQ(report.pods.created, 6);
  EXPECT_EQ(report.pods.scheduled, 6);
  EXPECT_EQ(report.pods.pending, 0);
  EXPECT_EQ(report.latency.at(0).pods, 6);
  EXPECT_GT(report.latency.at(0).p50, 0);
  EXPECT_DOUBLE_EQ(report.samples.back().cpu, 37.5);
  EXPECT_EQ(report.samples.back().bound, 6);
  EXPECT_EQ(report.samples.size(), 121u);
}

TEST(RunScenario, ReplacesWhatIsDeletedAndFollowsTheScale) {
  const ScenarioReport report = Play(std::string(kNodes) + kDeployment + R"(
events:
- {at: 1m, delete: {kind: Pod, selector: app=web}}
- {at: 2m, scale: {kind: Deployment, name: web, replicas: 9}}
- {at: 3m, scale: {kind: Deployment, name: web, replicas: 2}}
)");
  EXPECT_EQ(report.pods.created, 6 + 6 + 3);
  EXPECT_EQ(report.pods.deleted, 6 + 7);
  EXPECT_EQ(report.samples.back().bound, 2);
  EXPECT_TRUE(report.warnings.empty());
}

TEST(RunScenario, ANewTemplateReplacesThePods) {
  std::string changed(kDeployment);
  changed = changed.substr(changed.find("- apiVersion"));
  changed.replace(changed.find("cpu: 1"), 6, "cpu: 2");
  std::string indented;
  for (size_t at = 0; at < changed.size();) {
    const size_t end = changed.find('\n', at);
    indented += "  " + changed.substr(at, end - at) + "\n";
    at = end + 1;
  }
  const ScenarioReport report =
      Play(std::string(kNodes) + kDeployment + "events:\n- at: 1m\n  apply:\n" + indented);
  EXPECT_EQ(report.pods.created, 12);
  EXPECT_EQ(report.samples.back().bound, 6);
  EXPECT_DOUBLE_EQ(report.samples.back().cpu, 75);
}

TEST(RunScenario, DrainedPodsGoElsewhere) {
  const ScenarioReport report = Play(std::string(kNodes) + kDeployment + R"(
events:
- {at: 1m, drain: {selector: topology.kubernetes.io/zone=a}}
)");
  EXPECT_EQ(report.samples.back().bound, 6);
  EXPECT_EQ(report.pods.created, 6 + report.pods.deleted);
  EXPECT_GT(report.pods.deleted, 0);
}

std::string PodYaml(const std::string& name, const std::string& node, const std::string& kind,
                    const std::string& owner) {
  std::string owners;
  if (!kind.empty()) {
    owners = ", ownerReferences: [{apiVersion: v1, kind: " + kind + ", name: " + owner +
             ", uid: u, controller: true}]";
  }
  return "- {apiVersion: v1, kind: Pod, metadata: {name: " + name + owners +
         "}, spec: {nodeName: " + node +
         ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n";
}

// A dump without the controllers.
std::string PodsAlone() {
  return "objects:\n" + PodYaml("web-5d4f-a", "node-1", "ReplicaSet", "web-5d4f") +
         PodYaml("web-5d4f-b", "node-1", "ReplicaSet", "web-5d4f") +
         PodYaml("web-5d4f-c", "node-2", "ReplicaSet", "web-5d4f") +
         PodYaml("db-0", "node-1", "StatefulSet", "db") +
         PodYaml("static", "node-1", "Node", "node-1") + PodYaml("debug", "node-1", "", "");
}

TEST(RunScenario, ControllersThatAreNotInTheInputAreInferred) {
  const ScenarioReport report = Play(std::string(kNodes) + PodsAlone() + R"(
events:
- {at: 1m, drain: {name: node-1}}
)");
  EXPECT_EQ(report.inferred,
            (std::vector<std::string>{"ReplicaSet default/web-5d4f", "StatefulSet default/db"}));
  EXPECT_EQ(report.samples.back().bound, 5) << "all but the one that is lost";
  EXPECT_EQ(report.pods.created, 6 + 3);
  EXPECT_EQ(report.pods.lost, 1);
  EXPECT_EQ(report.lost, (std::vector<std::string>{"default/debug"}));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("2 in all, e.g. ReplicaSet default/web-5d4f"),
            std::string::npos);
}

TEST(RunScenario, WhatAnEventDeletesIsNotLost) {
  const ScenarioReport report = Play(std::string(kNodes) + PodsAlone() + R"(
events:
- {at: 1m, delete: {kind: Pod, name: debug}}
)");
  EXPECT_EQ(report.pods.lost, 0);
}

TEST(RunScenario, PendingWorkloadsAreNamed) {
  const ScenarioReport report = Play(std::string(kNodes) + kDeployment + R"(
events:
- {at: 1m, scale: {kind: Deployment, name: web, replicas: 20}}
)");
  ASSERT_EQ(report.pending.size(), 1u);
  EXPECT_EQ(report.pending[0].workload, "Deployment default/web");
  EXPECT_EQ(report.pending[0].before, 0);
  EXPECT_EQ(report.pending[0].pending, report.pods.pending);
  EXPECT_EQ(report.pending[0].pods.size(), static_cast<size_t>(report.pods.pending));
  EXPECT_EQ(report.pending[0].reasons, (std::vector<std::string>{"Insufficient cpu"}));
}

TEST(RunScenario, NoExecuteTaintsDriveAwayAndNodesTakeTheirPodsAlong) {
  for (const char* event : {"{at: 1m, taint: {nodes: {name: node-1}, taints: ['gone:NoExecute']}}",
                            "{at: 1m, removeNodes: {name: node-1}}"}) {
    const ScenarioReport report =
        Play(std::string(kNodes) + kDeployment + "events:\n- " + event + "\n");
    EXPECT_GT(report.pods.deleted, 0) << event;
    EXPECT_EQ(report.samples.back().bound, 6) << event;
    EXPECT_EQ(report.pods.pending, 0) << event;
  }
}

TEST(RunScenario, PodsFinishAfterTheirLifetime) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
podStartup: 1s
events:
- {at: 1m, every: 1m, times: 3, pods: {name: task, count: 5, cpu: 100m, memory: 1Mi, lifetime: 30s}}
)");
  EXPECT_EQ(report.pods.created, 15);
  EXPECT_EQ(report.pods.finished, 15);
  EXPECT_EQ(report.pods.deleted, 0);
  EXPECT_EQ(report.samples.back().bound, 0);
}

TEST(RunScenario, AJobRunsToItsCompletions) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
events:
- at: 10s
  apply:
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: job}
    spec:
      parallelism: 2
      completions: 7
      template:
        metadata: {annotations: {berth.dev/lifetime: 20s}}
        spec: {containers: [{name: c, image: i}]}
)");
  EXPECT_EQ(report.pods.created, 7);
  EXPECT_EQ(report.pods.finished, 7);
}

TEST(RunScenario, ADaemonSetFollowsTheNodes) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
objects:
- apiVersion: apps/v1
  kind: DaemonSet
  metadata: {name: agent}
  spec:
    selector: {matchLabels: {app: agent}}
    template:
      metadata: {labels: {app: agent}}
      spec: {containers: [{name: c, image: i}]}
events:
- {at: 1m, addNodes: {name: node, count: 2, cpu: 4, memory: 16Gi}}
)");
  EXPECT_EQ(report.nodes, 6);
  EXPECT_EQ(report.samples.back().bound, 6);
}

TEST(RunScenario, ArrivalsComeAtTheirRate) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
events:
- {at: 0s, pods: {name: p, perSecond: 5, for: 5m, cpu: 1m, memory: 1Mi, lifetime: 1s}}
)");
  EXPECT_NEAR(static_cast<double>(report.pods.created), 1500, 150);
  EXPECT_EQ(report.samples.back().bound, 0);
}

TEST(RunScenario, WhatDoesNotFitIsPendingWithItsReason) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
events:
- {at: 1s, pods: {name: huge, count: 3, cpu: 5, memory: 1Gi}}
)");
  EXPECT_EQ(report.pods.pending, 3);
  EXPECT_EQ(report.pods.unschedulable, 3);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons[0].reason, "Insufficient cpu");
  EXPECT_EQ(report.reasons[0].pending, 3);
  EXPECT_EQ(report.samples.back().unschedulable, 3);
}

TEST(RunScenario, ImportantPodsPreempt) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
events:
- {at: 1s, pods: {name: low, count: 4, cpu: 4, memory: 1Gi}}
- {at: 1m, name: rush, pods: {name: high, count: 2, cpu: 4, memory: 1Gi, priorityClassName: high}}
objects:
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
)");
  EXPECT_EQ(report.pods.preempted, 2);
  EXPECT_EQ(report.pods.scheduled, 6);
  ASSERT_EQ(report.latency.size(), 3u);
  EXPECT_EQ(report.latency[1].priority, "1000");
  EXPECT_GT(report.latency[1].p50, 2) << "the victims need two seconds to go";
  ASSERT_EQ(report.events.size(), 1u);
  EXPECT_EQ(report.events[0].name, "rush");
}

TEST(RunScenario, PodsWaitWhileTheSchedulerIsDown) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
events:
- {at: 1m, crashScheduler: {down: 20s}}
- {at: 65s, pods: {name: p, count: 1, cpu: 1, memory: 1Gi}}
)");
  EXPECT_EQ(report.scheduler.crashes, 1);
  EXPECT_EQ(report.pods.scheduled, 1);
  EXPECT_NEAR(report.latency[0].max, 15, 1);
}

TEST(RunScenario, ClaimsGetVolumesWhereThePodsGo) {
  const ScenarioReport report = Play(std::string(kNodes) + R"(
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disk}, provisioner: disks, volumeBindingMode: WaitForFirstConsumer}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: share}, provisioner: shares, volumeBindingMode: Immediate}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db}
  spec:
    replicas: 3
    selector: {matchLabels: {app: db}}
    volumeClaimTemplates:
    - {metadata: {name: data}, spec: {storageClassName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
    - {metadata: {name: logs}, spec: {storageClassName: share, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}}
    template:
      metadata: {labels: {app: db}}
      spec: {containers: [{name: c, image: i}]}
events:
- {at: 5m, delete: {kind: Pod, selector: app=db}}
)");
  EXPECT_EQ(report.pods.created, 6);
  EXPECT_EQ(report.samples.back().bound, 3);
}

TEST(RunScenario, StrandedIsWhatTheReferencePodCannotUse) {
  const ScenarioReport report = Play(R"(
referencePod: {cpu: 2, memory: 1Gi}
nodes:
- {name: full, count: 3, cpu: 1, memory: 16Gi}
- {name: open, count: 1, cpu: 5, memory: 16Gi}
)");
  EXPECT_DOUBLE_EQ(report.samples.back().cpu_stranded, 37.5) << "3 of 8";
  EXPECT_DOUBLE_EQ(report.samples.back().memory_stranded, 75);
  EXPECT_EQ(report.fragmentation.headroom, 2);
}

TEST(RunScenario, WarnsOfWhatIsNotThere) {
  const ScenarioReport report = Play(R"(
events:
- {at: 1s, cordon: {name: nobody}}
- {at: 2s, scale: {kind: Deployment, name: nothing, replicas: 3}}
)");
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_EQ(report.warnings[0], "1s: events[0]: there is no such node");
  EXPECT_EQ(report.warnings[1], "2s: events[1]: there is no Deployment default/nothing");
}

TEST(RunScenario, AnEventThatFailsEndsTheRun) {
  const auto report = TryRun(std::string(kNodes) + R"(
events:
- {at: 1s, pods: {name: p, count: 1, priorityClassName: gold}}
)");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().Message(),
            "events[0]: Pod default/p-1: no PriorityClass with name gold was found");
}

TEST(RunScenario, EqualSeedsGiveEqualReports) {
  const std::string yaml = std::string(kNodes) + kDeployment + R"(
network: {writes: exponential 10ms, watches: 1ms..30ms}
events:
- {at: 0s, pods: {name: p, perSecond: 0.5, cpu: 500m, memory: 1Gi, lifetime: exponential 20s}}
- {at: 1m, every: 1m, drain: {name: "*", count: 1}}
- {at: 90s, every: 1m, uncordon: {name: "*"}}
)";
  const std::string first = api::ToJson(Play(yaml));
  EXPECT_EQ(first, api::ToJson(Play(yaml)));
  EXPECT_NE(first, api::ToJson(Play(yaml, 10 * kMinute, 2)));
}

}  // namespace
}  // namespace berth::sim

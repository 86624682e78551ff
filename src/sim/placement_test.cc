#include "sim/placement.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/report.h"
#include "sim/testing/world.h"

namespace berth::sim {
namespace {

std::string Node(const std::string& name, int cpu, const std::string& more = "") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         "}\nstatus: {capacity: {cpu: " + std::to_string(cpu) + ", memory: 8Gi, pods: 10" + more +
         "}}\n";
}
std::string Pod(const std::string& name, int cpu, const std::string& more = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec: {containers: [{name: c, resources: {requests: {cpu: " + std::to_string(cpu) +
         "}}}]" + more + "}\n";
}

TEST(Placement, EveryPodGetsAPlaceOrAReason) {
  Simulation simulation(Node("a", 4) + Node("b", 2) + Pod("big", 4) + Pod("small", 2) +
                        Pod("too-big", 5) + Pod("gated", 1, ", schedulingGates: [{name: wait}]") +
                        Pod("foreign", 1, ", schedulerName: other"));
  size_t told = 0;
  const auto outcomes = simulation.placement->ScheduleAll([&](size_t done) { told = done; });
  ASSERT_EQ(outcomes.size(), 5u);
  EXPECT_EQ(told, 5u);
  const auto& cluster = simulation.world.GetCluster();
  using Kind = PodOutcome::Kind;
  EXPECT_EQ(outcomes[0].kind, Kind::kPlaced);
  EXPECT_EQ(cluster.NodeName(outcomes[0].node), "a");
  EXPECT_EQ(outcomes[0].feasible_nodes, 1u);
  EXPECT_EQ(outcomes[1].kind, Kind::kPlaced);
  EXPECT_EQ(cluster.NodeName(outcomes[1].node), "b") << "what was placed takes room";
  EXPECT_EQ(outcomes[2].kind, Kind::kUnschedulable);
  EXPECT_TRUE(outcomes[2].message.starts_with("0/2 nodes are available: 2 Insufficient cpu."))
      << outcomes[2].message;
  EXPECT_EQ(outcomes[3].kind, Kind::kGated);
  EXPECT_EQ(outcomes[3].message, "waiting for scheduling gates: [wait]");
  EXPECT_EQ(outcomes[4].kind, Kind::kForeign);
  EXPECT_EQ(outcomes[4].message, "no profile for schedulerName \"other\"");
  EXPECT_EQ(cluster.Resource(cluster::kCpu)->requested[cluster.FindNode("a")], 4000);
}

TEST(Placement, DeviceTaintRulesKeepPodsOffDevices) {
  const std::string devices = Node("a", 4) + R"(---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice}
spec:
  driver: gpu.example.com
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
)" + Pod("p", 1, ", resourceClaims: [{name: gpu, resourceClaimName: claim}]");
  const std::string rule = R"(---
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.example.com, device: gpu-0}
  taint: {key: broken, effect: NoSchedule}
)";
  config::FeatureGates gates;
  ASSERT_TRUE(gates.Set("DRADeviceTaints=true"));
  const config::Behaviour with_rules(gates);
  using Kind = PodOutcome::Kind;
  Simulation free(devices, {}, with_rules);
  EXPECT_EQ(free.placement->ScheduleAll({}).at(0).kind, Kind::kPlaced);
  Simulation tainted(devices + rule, {}, with_rules);
  EXPECT_EQ(tainted.placement->ScheduleAll({}).at(0).kind, Kind::kUnschedulable);
  EXPECT_TRUE(tainted.world.Ignored().empty());
  Simulation gate_off(devices + rule);
  EXPECT_EQ(gate_off.placement->ScheduleAll({}).at(0).kind, Kind::kPlaced);
}

TEST(Placement, WithoutNodesEveryPodIsUnschedulable) {
  Simulation simulation(Pod("p", 1));
  const auto outcomes = simulation.placement->ScheduleAll({});
  EXPECT_EQ(outcomes.at(0).kind, PodOutcome::Kind::kUnschedulable);
  EXPECT_EQ(outcomes.at(0).message, "no nodes available to schedule pods");
}

TEST(Placement, ScoresOfTheChosenNodeAreKeptWhenAskedFor) {
  const std::string yaml = Node("a", 4) + Node("b", 2) + Pod("p", 1);
  Simulation plain(yaml);
  EXPECT_TRUE(plain.placement->ScheduleAll({}).at(0).scores.empty());
  PlacementOptions options;
  options.keep_scores = true;
  Simulation kept(yaml, options);
  const PodOutcome outcome = kept.placement->ScheduleAll({}).at(0);
  int64_t sum = 0;
  for (const PluginScore& score : outcome.scores) sum += score.weighted;
  EXPECT_FALSE(outcome.scores.empty());
  EXPECT_EQ(sum, outcome.total) << "they add up";
}

TEST(Placement, EqualSeedsGiveEqualPlaces) {
  std::string yaml;
  for (int i = 0; i < 20; ++i) yaml += Node("n" + std::to_string(i), 4);
  for (int i = 0; i < 40; ++i) yaml += Pod("p" + std::to_string(i), 1);
  const auto run = [&](uint64_t seed) {
    PlacementOptions options;
    options.algorithm.seed = seed;
    Simulation simulation(yaml, options);
    std::vector<cluster::NodeIndex> nodes;
    for (const PodOutcome& o : simulation.placement->ScheduleAll({})) nodes.push_back(o.node);
    return nodes;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

std::string Deployment(const std::string& spec) {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 0, "
         "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {" +
         spec + "}}}\n";
}
constexpr const char* kOneCore = "containers: [{name: c, resources: {requests: {cpu: 1}}}]";

TEST(Fill, AsManyReplicasAsFit) {
  Simulation simulation(Node("a", 4) + Node("b", 3) + Node("c", 0) + Pod("p", 1) +
                        Deployment(kOneCore));
  simulation.placement->ScheduleAll({});
  const size_t pods = simulation.world.GetCluster().PodCountTotal();
  const auto filled = Fill(simulation.world, *simulation.placement, "web", INT64_MAX, {});
  ASSERT_TRUE(filled.has_value()) << filled.error().Message();
  EXPECT_EQ(filled->workload, "web");
  EXPECT_EQ(filled->replicas, 6);
  EXPECT_EQ(filled->nodes_used, 2);
  EXPECT_TRUE(filled->stopped_by.starts_with("0/3 nodes are available: 3 Insufficient cpu."))
      << filled->stopped_by;
  EXPECT_EQ(simulation.world.GetCluster().PodCountTotal(), pods + 6)
      << "the one that did not fit is gone";
}

TEST(Fill, StopsAtTheLimit) {
  Simulation simulation(Node("a", 4) + Deployment(kOneCore));
  size_t told = 0;
  const auto filled =
      Fill(simulation.world, *simulation.placement, "web", 2, [&](size_t done) { told = done; });
  EXPECT_EQ(filled->replicas, 2);
  EXPECT_EQ(filled->stopped_by, "");
  EXPECT_EQ(told, 2u);
}

TEST(Fill, RefusesWhatItCannotFill) {
  Simulation simulation(Node("a", 4) + Deployment(std::string("nodeName: a, ") + kOneCore));
  const auto unknown = Fill(simulation.world, *simulation.placement, "db", 10, {});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().Message(), "no workload called db in the input");
  const auto placed = Fill(simulation.world, *simulation.placement, "web", 10, {});
  ASSERT_FALSE(placed.has_value());
  EXPECT_EQ(placed.error().Message(), "its pods name their node, so nothing is left to decide");
  EXPECT_EQ(simulation.world.GetCluster().PodCountTotal(), 0u);
}

TEST(Report, CountsOutcomesAndUse) {
  Simulation simulation(Node("a", 4, ", example.com/gpu: 2") + Pod("p", 1) + Pod("huge", 9));
  const auto& cluster = simulation.world.GetCluster();
  const Usage before = MeasureUsage(cluster);
  const auto outcomes = simulation.placement->ScheduleAll({});
  const Report report = MakeReport(cluster, outcomes, {}, before, MeasureUsage(cluster));
  EXPECT_EQ(report.nodes, 1);
  EXPECT_EQ(report.placed, 1);
  EXPECT_EQ(report.unschedulable, 1);
  ASSERT_EQ(report.pods.size(), 2u);
  EXPECT_EQ(report.pods[0].namespace_, "default");
  EXPECT_EQ(report.pods[0].outcome, "Placed");
  EXPECT_EQ(report.pods[0].node, "a");
  EXPECT_EQ(report.pods[1].outcome, "Unschedulable");
  EXPECT_EQ(report.pods[1].node, "");
  ASSERT_EQ(report.utilization.size(), 3u) << "resources nobody asks for are left out";
  EXPECT_EQ(report.utilization[0].resource, "cpu");
  EXPECT_EQ(report.utilization[0].allocatable, "4.0");
  EXPECT_EQ(report.utilization[0].before, "0.0");
  EXPECT_EQ(report.utilization[0].after, "1.0");
  EXPECT_EQ(report.utilization[0].after_percent, 25);
  EXPECT_EQ(report.utilization[1].allocatable, "8.0Gi");
  EXPECT_EQ(report.utilization[2].resource, "pods");
  EXPECT_EQ(report.utilization[2].after_percent, 10);
}

TEST(Report, AbsurdAmountsArePrinted) {
  Simulation simulation(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a, uid: u}\nstatus: {allocatable: {memory: "
      "1}}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: p}\nspec: {nodeName: a, "
      "containers: "
      "[{name: c, resources: {requests: {memory: 8Ei}}}]}\n");
  const auto& cluster = simulation.world.GetCluster();
  const Usage usage = MeasureUsage(cluster);
  const Report report = MakeReport(cluster, {}, {}, usage, usage);
  EXPECT_GT(report.utilization.at(0).after_percent, 1e20);
}

}  // namespace
}  // namespace berth::sim

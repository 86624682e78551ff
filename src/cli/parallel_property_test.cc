// Scans on several threads decide as serial ones do: the real plugins, random clusters, the real
// worker pool. Clusters are large enough for scans to be spread (more than 16,384 nodes).
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/testing/builders.h"
#include "sim/placement.h"
#include "sim/world.h"
#include "threads/worker_pool.h"

namespace berth::cli {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

// Parts run on the calling thread, last one first: any dependence between parts shows.
class Backwards final : public framework::Executor {
 public:
  size_t Width() const override { return 2; }
  void Run(size_t count, FunctionRef<void(size_t)> part) override {
    for (size_t i = count; i-- > 0;) part(i);
  }
};

class RandomWorld {
 public:
  explicit RandomWorld(uint64_t seed) : random_(seed) {}

  // `templates`: how many kinds of pending pods there are; 0 makes every one different.
  void Fill(sim::World& world, int nodes, int placed, int pending, size_t templates = 0) {
    Add(world, Storage());
    for (int i = 0; i < nodes; ++i) Add(world, Node(i));
    for (int i = 0; i < placed; ++i) {
      api::Pod pod = Pod(fmt::format("old-{}", i));
      pod.spec.node_name = fmt::format("n{}", random_.Below(static_cast<uint64_t>(nodes)));
      Add(world, std::move(pod));
    }
    std::vector<api::Pod> kinds;
    for (int i = 0; i < pending; ++i) {
      const std::string name = fmt::format("new-{}", i);
      api::Pod pod = Pod(name);
      if (OneIn(3)) Spread(pod);
      if (OneIn(3)) PodAffinity(pod);
      if (templates > 0 && kinds.size() == templates) {
        pod = kinds[random_.Below(templates)];
        pod.metadata.name = name;
        pod.metadata.uid = name;
      } else {
        kinds.push_back(pod);
      }
      Add(world, std::move(pod));
    }
    const auto finished = world.Finish();
    ASSERT_TRUE(finished.has_value()) << finished.error().Message();
  }

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  std::string Of(std::string_view prefix, uint64_t n) {
    return fmt::format("{}{}", prefix, random_.Below(n));
  }
  template <class T>
  static void Add(sim::World& world, T object) {
    const auto added = world.Add(std::move(object));
    ASSERT_TRUE(added.has_value()) << added.error().Message();
  }

  static api::StorageClass Storage() {
    return cluster::FromText<api::StorageClass>(
        "{'metadata':{'name':'fast'},'provisioner':'csi.example.com',"
        "'volumeBindingMode':'WaitForFirstConsumer'}");
  }

  api::Node Node(int i) {
    MakeNode node(fmt::format("n{}", i));
    node.Cpu(Of("", 6) + "500m").Memory(fmt::format("{}Gi", 1 + random_.Below(16)));
    node.Zone(Of("z", 5)).Label("kubernetes.io/hostname", fmt::format("n{}", i));
    node.Label("disk", Of("d", 3));
    if (OneIn(5)) node.Taint(Of("t", 3), OneIn(2) ? "NoSchedule" : "PreferNoSchedule");
    if (OneIn(15)) node.Cordoned();
    if (OneIn(3)) node.Image({Of("registry.example.com/app", 3) + ":v1"}, 400'000'000);
    if (OneIn(4)) node.Has("example.com/gpu", Of("", 4));
    return node;
  }

  api::Pod Pod(const std::string& name) {
    MakePod pod(name);
    pod.Label("app", Of("a", 4)).Priority(static_cast<int32_t>(random_.Below(3)) * 10);
    pod.Requests("cpu", Of("", 15) + "00m").Requests("memory", Of("", 2000) + "Mi");
    if (OneIn(3)) pod.Image(Of("registry.example.com/app", 3) + ":v1");
    if (OneIn(6)) pod.Requests("example.com/gpu", "1");
    if (OneIn(6)) pod.HostPort(8000 + static_cast<int32_t>(random_.Below(2)));
    if (OneIn(4)) pod.Tolerates(Of("t", 3));
    if (OneIn(4)) pod.NodeSelector("disk", Of("d", 3));
    if (OneIn(4)) pod.NodeAffinity(Affinity());
    return pod;
  }

  std::string Affinity() {
    return fmt::format(
        "{{'preferredDuringSchedulingIgnoredDuringExecution':[{{'weight':{},'preference':"
        "{{'matchExpressions':[{{'key':'disk','operator':'{}','values':['d1']}}]}}}}]}}",
        1 + random_.Below(100), OneIn(2) ? "In" : "NotIn");
  }

  void Spread(api::Pod& pod) {
    const auto constraint = fmt::format(
        "{{'maxSkew':{},'topologyKey':'{}','whenUnsatisfiable':'{}','labelSelector':"
        "{{'matchLabels':{{'app':'{}'}}}}}}",
        1 + random_.Below(4), OneIn(3) ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone",
        OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway", pod.metadata.labels.at("app"));
    pod.spec.topology_spread_constraints.push_back(
        cluster::FromText<api::TopologySpreadConstraint>(constraint));
  }

  void PodAffinity(api::Pod& pod) {
    const std::string term = fmt::format(
        "{{'labelSelector':{{'matchLabels':{{'app':'{}'}}}},'topologyKey':'{}'}}", Of("a", 4),
        OneIn(2) ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone");
    const std::string weighted =
        fmt::format("{{'weight':{},'podAffinityTerm':{}}}", 1 + random_.Below(100), term);
    const char* kind = OneIn(2) ? "podAffinity" : "podAntiAffinity";
    const std::string json =
        OneIn(3)
            ? fmt::format("{{'{}':{{'requiredDuringSchedulingIgnoredDuringExecution':[{}]}}}}",
                          kind, term)
            : fmt::format("{{'{}':{{'preferredDuringSchedulingIgnoredDuringExecution':[{}]}}}}",
                          kind, weighted);
    auto affinity = cluster::FromText<api::Affinity>(json);
    if (pod.spec.affinity) affinity.node_affinity = pod.spec.affinity->node_affinity;
    pod.spec.affinity = std::move(affinity);
  }

  Random random_;
};

// Every outcome, in words, with the scores of the chosen node.
std::vector<std::string> Decide(uint64_t seed, framework::Executor* executor, size_t templates = 0,
                                bool classes = false) {
  sim::World world;
  RandomWorld(seed).Fill(world, 16500, 6000, 100, templates);
  auto profiles =
      scheduler::ProfileSet::Make(config::Default(), {}, world.GetCluster(), executor, seed);
  EXPECT_TRUE(profiles.has_value());
  sim::PlacementOptions options;
  options.algorithm.seed = seed;
  options.algorithm.classes = classes;
  options.keep_scores = templates == 0;  // who wants scores looks at every node
  sim::Placement placement(world, *profiles, options);
  std::vector<std::string> lines;
  for (const sim::PodOutcome& outcome : placement.ScheduleAll({})) {
    std::string line =
        fmt::format("{} {} node={} feasible={} ties={} total={} {}", outcome.name,
                    static_cast<int>(outcome.kind), outcome.node, outcome.feasible_nodes,
                    outcome.equal_nodes, outcome.total, outcome.message);
    for (const sim::PluginScore& score : outcome.scores) {
      line += fmt::format(" {}={}/{}", score.plugin, score.raw, score.normalized);
    }
    for (const std::string& victim : outcome.victims) line += " -" + victim;
    lines.push_back(std::move(line));
  }
  return lines;
}

class ParallelEqualsSerial : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ParallelEqualsSerial, OnARandomCluster) {
  const std::vector<std::string> serial = Decide(GetParam(), nullptr);
  size_t placed = 0;
  for (const std::string& line : serial) placed += line.find(" 0 node=") != std::string::npos;
  ASSERT_GT(placed, 30u) << "most pods should get as far as scores";
  ASSERT_LT(placed, serial.size()) << "and some should find no node";
  threads::WorkerPool pool(3);
  EXPECT_EQ(Decide(GetParam(), &pool), serial);
  Backwards backwards;
  EXPECT_EQ(Decide(GetParam(), &backwards), serial);
}

TEST_P(ParallelEqualsSerial, AndClassesChangeNothing) {
  constexpr size_t kTemplates = 5;
  const std::vector<std::string> scans = Decide(GetParam(), nullptr, kTemplates, false);
  EXPECT_EQ(Decide(GetParam(), nullptr, kTemplates, true), scans);
  threads::WorkerPool pool(2);
  EXPECT_EQ(Decide(GetParam(), &pool, kTemplates, true), scans);
  EXPECT_EQ(Decide(GetParam(), &pool, kTemplates, false), scans);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ParallelEqualsSerial, ::testing::Range<uint64_t>(1, 5));

}  // namespace
}  // namespace berth::cli

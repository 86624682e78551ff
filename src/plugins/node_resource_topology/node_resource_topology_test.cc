#include "plugins/node_resource_topology/node_resource_topology.h"

#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_resource_topology {
namespace {

using Args = config::NodeResourceTopologyMatchArgs;

constexpr const char* kSingleContainer = "single-numa-node/container";
constexpr const char* kSinglePod = "single-numa-node/pod";

// A pod whose last container has equal requests and limits.
class Guaranteed {
 public:
  explicit Guaranteed(const std::string& name) { pod_ = MakePod(name).NoContainers(); }
  Guaranteed& App(const std::string& cpu, const std::string& memory, const std::string& gpus = "") {
    pod_.spec.containers.push_back(Of(cpu, memory, gpus));
    return *this;
  }
  Guaranteed& Init(const std::string& cpu, const std::string& memory, bool stays = false) {
    pod_.spec.init_containers.push_back(Of(cpu, memory, ""));
    if (stays) pod_.spec.init_containers.back().restart_policy = "Always";
    return *this;
  }
  operator const api::Pod&() const { return pod_; }  // NOLINT: stands for its object

 private:
  static api::Container Of(const std::string& cpu, const std::string& memory,
                           const std::string& gpus) {
    api::Container container;
    auto& requests = container.resources.requests;
    requests["cpu"] = cluster::Amount(cpu);
    requests["memory"] = cluster::Amount(memory);
    if (!gpus.empty()) requests["example.com/gpu"] = cluster::Amount(gpus);
    container.resources.limits = requests;
    return container;
  }
  api::Pod pod_;
};

class NodeResourceTopologyTest : public testing::Test {
 protected:
  void SetUp() override { cluster_.Track(Inputs({})); }

  static std::string Zone(const std::string& name, const std::string& cpu,
                          const std::string& memory, const std::string& more = "",
                          const std::string& costs = "") {
    const auto resource = [](const std::string& resource_name, const std::string& amount) {
      return R"({"name":")" + resource_name + R"(","capacity":")" + amount +
             R"(","allocatable":")" + amount + R"(","available":")" + amount + R"("})";
    };
    return R"({"name":")" + name + R"(","type":"Node","costs":[)" + costs + R"(],"resources":[)" +
           resource("cpu", cpu) + "," + resource("memory", memory) +
           (more.empty() ? "" : "," + resource("example.com/gpu", more)) + "]}";
  }
  // `policy` is "policy/scope"; zones as Zone makes them, with commas.
  void Node(const std::string& name, const std::string& policy, const std::string& zones,
            const std::string& gpus = "") {
    auto node = MakeNode(name).Cpu("100").Memory("100Gi");
    if (!gpus.empty()) node.Has("example.com/gpu", gpus);
    cluster_.SetNode(node);
    const size_t slash = policy.find('/');
    api::UnknownObject object{TopologyKind().ApiVersion(), TopologyKind().kind, {}, ""};
    object.metadata.name = name;
    object.json = R"({"metadata":{"name":")" + name + R"("},"attributes":[)" +
                  R"({"name":"topologyManagerPolicy","value":")" + policy.substr(0, slash) +
                  R"("},{"name":"topologyManagerScope","value":")" + policy.substr(slash + 1) +
                  R"("}],"zones":[)" + zones + "]}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  std::string Filter(const api::Pod& pod, const Args& args = {}) {
    OnePlugin plugin(cluster_, &Make, config::OwnArgs::Of(args));
    return plugin.Filter(cluster_.AddPod(pod));
  }
  std::string Score(const api::Pod& pod, const std::string& strategy) {
    Args args;
    args.scoring_strategy = {strategy, {}};
    args.SetDefaults();
    OnePlugin plugin(cluster_, &Make, config::OwnArgs::Of(args));
    return plugin.Score(cluster_.AddPod(pod));
  }

  cluster::Cluster cluster_;
};

TEST_F(NodeResourceTopologyTest, OnlyOnePolicyIsJudged) {
  const std::string zones = Zone("node-0", "2", "2Gi") + "," + Zone("node-1", "2", "2Gi");
  Node("none", "none/container", zones);
  Node("effort", "best-effort/pod", zones);
  Node("strict", "restricted/container", zones);
  Node("single", kSingleContainer, zones);
  cluster_.SetNode(MakeNode("unknown").Cpu("100"));
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "1Gi")),
            "none ok | effort ok | strict ok | single Unschedulable: cannot align container | "
            "unknown ok");
  EXPECT_EQ(Filter(Guaranteed("p").App("2", "1Gi")),
            "none ok | effort ok | strict ok | single ok | unknown ok");
}

TEST_F(NodeResourceTopologyTest, ContainersTakeTheLowestCellOneByOne) {
  Node("n", kSingleContainer, Zone("node-0", "4", "4Gi") + "," + Zone("node-1", "2", "8Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "1Gi").App("2", "1Gi")), "n ok");
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "1Gi").App("2", "1Gi").App("1", "1Gi")), "n ok");
  EXPECT_EQ(Filter(Guaranteed("p").App("2", "1Gi").App("3", "1Gi")),
            "n Unschedulable: cannot align container")
      << "the first one has taken from the only cell that is large enough";
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "6Gi")), "n Unschedulable: cannot align container")
      << "no cell has both";
}

TEST_F(NodeResourceTopologyTest, InitContainersFitOneByOneAndTakeNothing) {
  Node("n", kSingleContainer, Zone("node-0", "4", "4Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").Init("4", "1Gi").Init("4", "1Gi").App("4", "1Gi")), "n ok");
  EXPECT_EQ(Filter(Guaranteed("p").Init("5", "1Gi").App("1", "1Gi")),
            "n Unschedulable: cannot align init container");
  EXPECT_EQ(Filter(Guaranteed("p").Init("5", "1Gi", true).App("1", "1Gi")),
            "n Unschedulable: cannot align sidecar container");
}

TEST_F(NodeResourceTopologyTest, InPodScopeThePodIsOne) {
  Node("n", kSinglePod, Zone("node-0", "4", "4Gi") + "," + Zone("node-1", "4", "4Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").App("2", "1Gi").App("2", "1Gi")), "n ok");
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "1Gi").App("2", "1Gi")),
            "n Unschedulable: cannot align pod");
  EXPECT_EQ(Filter(Guaranteed("p").Init("5", "1Gi").App("1", "1Gi")),
            "n Unschedulable: cannot align pod");
}

TEST_F(NodeResourceTopologyTest, OfPodsThatAreNotGuaranteedOnlyDevicesCount) {
  Node("n", kSingleContainer,
       Zone("node-0", "1", "1Gi", "1") + "," + Zone("node-1", "1", "1Gi", "1"), "2");
  EXPECT_EQ(Filter(MakePod("p").Requests("cpu", "50")), "n ok");
  EXPECT_EQ(Filter(MakePod("p").Requests("cpu", "50").Requests("example.com/gpu", "1")), "n ok");
  EXPECT_EQ(Filter(MakePod("p").Requests("example.com/gpu", "2")),
            "n Unschedulable: cannot align container");
}

TEST_F(NodeResourceTopologyTest, ResourcesThatBelongToNoCell) {
  Node("with", kSingleContainer, Zone("node-0", "4", "4Gi"), "2");
  Node("without", kSingleContainer, Zone("node-0", "4", "4Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").App("1", "1Gi", "2")),
            "with ok | without Unschedulable: cannot align container");
  EXPECT_EQ(Filter(Guaranteed("p").App("1", "1Gi", "0")), "with ok | without ok");
}

TEST_F(NodeResourceTopologyTest, TwoZonesOfOneNumber) {
  Node("n", kSingleContainer, Zone("node-0", "4", "4Gi") + "," + Zone("node-0", "1", "4Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").App("2", "1Gi")),
            "n Error: running \"NodeResourceTopologyMatch\" filter plugin: inconsistent resource "
            "accounting");
}

TEST_F(NodeResourceTopologyTest, ZonesThatAreNoCellsAreLeftOut) {
  Node("n", kSingleContainer,
       Zone("node-64", "9", "9Gi") + "," + Zone("node--1", "9", "9Gi") + "," +
           Zone("socket-0", "9", "9Gi") + "," + Zone("node-63", "2", "2Gi"));
  EXPECT_EQ(Filter(Guaranteed("p").App("3", "1Gi")), "n Unschedulable: cannot align container");
  EXPECT_EQ(Filter(Guaranteed("p").App("2", "1Gi")), "n ok");
}

TEST_F(NodeResourceTopologyTest, TopologiesAreFollowed) {
  OnePlugin plugin(cluster_, &Make);
  const auto pod = cluster_.AddPod(Guaranteed("p").App("2", "1Gi"));
  Node("n", kSingleContainer, Zone("node-0", "1", "4Gi"));
  EXPECT_EQ(plugin.Filter(pod), "n Unschedulable: cannot align container");
  Node("n", kSingleContainer, Zone("node-0", "2", "4Gi"));
  EXPECT_EQ(plugin.Filter(pod), "n ok");
  Node("m", kSingleContainer, Zone("node-0", "1", "4Gi"));
  EXPECT_EQ(plugin.Filter(pod), "n ok | m Unschedulable: cannot align container");
  cluster_.MutableObjects()
      .custom.Find(TopologyKind().ApiVersion(), TopologyKind().kind)
      ->Remove("", "m");
  EXPECT_EQ(plugin.Filter(pod), "n ok | m ok");
}

TEST_F(NodeResourceTopologyTest, ANodeIsClosedWhileAPodIsOnItsWay) {
  Node("n", "none/container", Zone("node-0", "1", "4Gi"));
  Args args;
  args.discard_reserved_nodes = true;
  NodeResourceTopologyMatch plugin(args);
  const auto first = cluster_.AddPod(Guaranteed("first").App("1", "1Gi"));
  const auto second = cluster_.AddPod(Guaranteed("second").App("1", "1Gi"));
  const auto state = plugin.NewState();
  const auto context = [&](cluster::PodId id) {
    return framework::CycleContext{cluster_, cluster_.GetPod(id), *cluster_.GetPod(id).shape};
  };
  const auto passes = [&] {
    plugin.BeginCycle(context(second), state.get());
    cluster::NodeSet nodes = cluster_.Nodes();
    framework::VerdictTable verdicts(cluster_.Rows());
    framework::FilterBatch batch(nodes, verdicts, 0, nodes.Words().size());
    plugin.Filter(context(second), state.get(), batch);
    return !nodes.Empty();
  };
  EXPECT_TRUE(passes());
  ASSERT_TRUE(plugin.Reserve(context(first), nullptr, 0).Ok());
  EXPECT_FALSE(passes());
  plugin.Unreserve(context(first), nullptr, 0);
  EXPECT_TRUE(passes());
  ASSERT_TRUE(plugin.Reserve(context(first), nullptr, 0).Ok());
  plugin.PostBind(cluster_, cluster_.GetPod(first), 0);
  EXPECT_TRUE(passes());
}

TEST_F(NodeResourceTopologyTest, ScoresByCells) {
  Node("c", kSingleContainer, Zone("node-0", "8", "8Gi") + "," + Zone("node-1", "4", "4Gi"));
  Node("p", kSinglePod, Zone("node-0", "8", "8Gi") + "," + Zone("node-1", "2", "8Gi"));
  Node("other", "restricted/pod", Zone("node-0", "8", "8Gi"));
  const api::Pod pod = Guaranteed("x").App("2", "2Gi");
  // 2 of 8 and 2 of 8: 75; 2 of 4 and 2 of 4: 50; 2 of 2 and 2 of 8: (0 + 75) / 2 = 37.
  EXPECT_EQ(Score(pod, "LeastAllocated"), "c 50>50 | p 37>37 | other 0>0");
  EXPECT_EQ(Score(pod, "MostAllocated"), "c 25>25 | p 25>25 | other 0>0");
  // Variance of 1 and 0.25: 0.28125.
  EXPECT_EQ(Score(pod, "BalancedAllocation"), "c 100>100 | p 71>71 | other 0>0");
  EXPECT_EQ(Score(MakePod("y").Requests("cpu", "1"), "LeastAllocated"),
            "c 100>100 | p 100>100 | other 100>100");
  // The mean of 50 and of 75 (1 of 4, and 1 of 4), truncated.
  EXPECT_EQ(Score(Guaranteed("z").App("2", "2Gi").App("1", "1Gi"), "LeastAllocated"),
            "c 62>62 | p 31>31 | other 0>0");
}

TEST_F(NodeResourceTopologyTest, CellsThatAreTooSmallDoNotCount) {
  Node("n", kSinglePod, Zone("node-0", "1", "1Gi") + "," + Zone("node-1", "4", "4Gi"));
  EXPECT_EQ(Score(Guaranteed("p").App("2", "2Gi"), "LeastAllocated"), "n 50>50");
}

TEST_F(NodeResourceTopologyTest, TheFewestCellsScoreHighest) {
  const std::string near = R"({"name":"node-0","value":10},{"name":"node-1","value":12})";
  const std::string far = R"({"name":"node-0","value":12},{"name":"node-1","value":10})";
  Node("n", "none/pod",
       Zone("node-0", "4", "4Gi", "", near) + "," + Zone("node-1", "4", "4Gi", "", far));
  // Steps of 100 / 8 = 12: one cell 88, two 76, and 6 more as no cells are closer.
  EXPECT_EQ(Score(Guaranteed("p").App("4", "1Gi"), "LeastNUMANodes"), "n 94>94");
  EXPECT_EQ(Score(Guaranteed("p").App("5", "1Gi"), "LeastNUMANodes"), "n 82>82");
  EXPECT_EQ(Score(Guaranteed("p").App("9", "1Gi"), "LeastNUMANodes"), "n 0>0");
}

TEST_F(NodeResourceTopologyTest, CloserCellsAreMissed) {
  const auto costs = [](int to0, int to1, int to2) {
    return R"({"name":"node-0","value":)" + std::to_string(to0) + R"(},{"name":"node-1","value":)" +
           std::to_string(to1) + R"(},{"name":"node-2","value":)" + std::to_string(to2) + "}";
  };
  Node("n", "best-effort/container",
       Zone("node-0", "1", "8Gi", "", costs(10, 11, 20)) + "," +
           Zone("node-1", "4", "8Gi", "", costs(11, 10, 20)) + "," +
           Zone("node-2", "4", "8Gi", "", costs(20, 20, 10)));
  EXPECT_EQ(Score(Guaranteed("p").App("8", "1Gi"), "LeastNUMANodes"), "n 76>76")
      << "cells 1 and 2; 0 and 1 are closer, but too small";
  EXPECT_EQ(Score(Guaranteed("p").App("5", "1Gi"), "LeastNUMANodes"), "n 82>82") << "cells 0 and 1";
  EXPECT_EQ(Score(Guaranteed("p").App("4", "1Gi").App("4", "1Gi"), "LeastNUMANodes"), "n 94>94")
      << "cell 1, then cell 2";
}

TEST(CellScore, WithoutRequestsItIsZero) {
  EXPECT_EQ(CellScore(Strategy::kLeastAllocated, {}, {}, {}), 0);
  EXPECT_EQ(CellScore(Strategy::kBalanced, {}, {}, {}), INT64_MIN) << "not a number";
}

TEST(CellScore, WeightsOfResources) {
  const Needs needs = {{"cpu", cluster::Amount("1")}, {"memory", cluster::Amount("1Gi")}};
  const Quantities available = {{"cpu", cluster::Amount("2")}, {"memory", cluster::Amount("4Gi")}};
  EXPECT_EQ(CellScore(Strategy::kLeastAllocated, needs, available, {}), 62);
  EXPECT_EQ(CellScore(Strategy::kLeastAllocated, needs, available, {{"cpu", 3}}), 56);
  EXPECT_EQ(CellScore(Strategy::kMostAllocated, needs, available, {{"memory", 3}}), 31);
}

// What is remembered about nodes is the same as what a plugin finds that knows nothing yet.
TEST_F(NodeResourceTopologyTest, WhatIsRememberedFollowsNodesAndObjects) {
  Random random(7);
  const auto number = [&](uint64_t below) { return std::to_string(random.Below(below)); };
  const auto change_node = [&](const std::string& name) {
    const std::string cpus = number(5);
    Node(name, kSingleContainer,
         Zone("node-0", cpus, "4Gi") + "," + Zone("node-1", number(5), number(6) + "Gi"),
         random.Below(2) == 0 ? "4" : "");
  };
  for (const char* name : {"a", "b", "c", "d"}) change_node(name);
  Args args;
  args.SetDefaults();
  OnePlugin remembering(cluster_, &Make, config::OwnArgs::Of(args));
  const cluster::CustomKind& kind = TopologyKind();
  auto& objects = *cluster_.MutableObjects().custom.Find(kind.ApiVersion(), kind.kind);
  for (int step = 0; step < 300; ++step) {
    const std::string name(1, static_cast<char>('a' + random.Below(4)));
    switch (random.Below(5)) {
      case 0:
        change_node(name);
        break;
      case 1:
        cluster_.RemoveNode(name);
        break;
      case 2:
        objects.Remove("", name);
        break;
      case 3:
        cluster_.SetNode(MakeNode(name).Cpu("100").Has("example.com/gpu", "2"));
        break;
      default:
        cluster_.AddPod(MakePod("on-" + std::to_string(step)).On(name));
    }
    // More kinds of pods than are remembered.
    const std::string cpus = std::to_string(1 + random.Below(4));
    const std::string gpus = random.Below(3) == 0 ? "1" : "";
    const auto pod =
        cluster_.AddPod(Guaranteed("p" + std::to_string(step)).App(cpus, number(4) + "Gi", gpus));
    OnePlugin fresh(cluster_, &Make, config::OwnArgs::Of(args));
    EXPECT_EQ(remembering.Filter(pod), fresh.Filter(pod)) << "step " << step;
    EXPECT_EQ(remembering.Score(pod), fresh.Score(pod)) << "step " << step;
    cluster_.RemovePod(pod);
  }
}

}  // namespace
}  // namespace berth::plugins::node_resource_topology

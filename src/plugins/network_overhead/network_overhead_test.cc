#include "plugins/network_overhead/network_overhead.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::network_overhead {
namespace {

using cluster::PodId;

class NetworkOverheadTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Track(Inputs({}));
    Node("a1", "east", "a");
    Node("a2", "east", "a");
    Node("b1", "east", "b");
    Node("w1", "west", "w");
    Node("x1", "", "");
  }
  void Node(const std::string& name, const std::string& region, const std::string& zone) {
    auto node = MakeNode(name);
    if (!region.empty()) node.Label("topology.kubernetes.io/region", region);
    if (!zone.empty()) node.Zone(zone);
    cluster_.SetNode(node);
  }
  void Put(const cluster::CustomKind& kind, const std::string& ns, const std::string& name,
           const std::string& spec, const std::string& uid = "u") {
    api::UnknownObject object{kind.ApiVersion(), kind.kind, {}, ""};
    object.metadata.name = name;
    object.metadata.namespace_ = ns;
    object.metadata.uid = uid;
    object.json = R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  // `front` talks to `back`, at a cost of at most `most`.
  void Group(int most, const std::string& uid = "u") {
    Put(AppGroupKind(), "default", "g",
        R"({"workloads":[{"workload":{"selector":"front"},"dependencies":[)"
        R"({"workload":{"selector":"back"},"maxNetworkCost":)" +
            std::to_string(most) + R"(}]},{"workload":{"selector":"back"}}]})",
        uid);
  }
  void Costs() {
    Put(NetworkTopologyKind(), "default", "nt-default",
        R"({"weights":[{"name":"UserDefined","topologyList":[)"
        R"({"topologyKey":"topology.kubernetes.io/zone","originList":[)"
        R"({"origin":"b","costList":[{"destination":"a","networkCost":5}]},)"
        R"({"origin":"a","costList":[{"destination":"b","networkCost":7}]}]},)"
        R"({"topologyKey":"topology.kubernetes.io/region","originList":[)"
        R"({"origin":"west","costList":[{"destination":"east","networkCost":20}]}]}]}]})");
  }
  api::Pod Pod(const std::string& name, const std::string& workload, const std::string& node = "") {
    return MakePod(name)
        .Label(std::string(kAppGroupLabel), "g")
        .Label(std::string(kWorkloadLabel), workload)
        .On(node);
  }
  std::string Filter(const api::Pod& pod) {
    OnePlugin plugin(cluster_, &Make);
    return plugin.Filter(cluster_.AddPod(pod));
  }
  // Score reads what PreFilter has prepared.
  std::string Score(const api::Pod& pod) {
    const NetworkOverhead plugin([] {
      config::NetworkOverheadArgs args;
      args.SetDefaults();
      return args;
    }());
    const PodId id = cluster_.AddPod(pod);
    const framework::CycleContext c{cluster_, cluster_.GetPod(id), *cluster_.GetPod(id).shape};
    const auto state = plugin.NewState();
    plugin.BeginCycle(c, state.get());
    EXPECT_TRUE(plugin.PreFilter(c, state.get(), nullptr).Ok());
    const framework::NodeSet& nodes = cluster_.Nodes();
    framework::ScoreColumn column;
    const size_t words = nodes.Words().size();
    framework::ScoreBatch batch(nodes, column.MakeDense(words * 64), 0, words);
    plugin.Score(c, state.get(), batch);
    framework::ScoreColumn normalized = column;
    plugin.Normalize(c, state.get(), nodes, normalized);
    std::string out;
    nodes.ForEach([&](cluster::NodeIndex n) {
      out += (out.empty() ? "" : " ") + cluster_.NodeName(n) + ":" + std::to_string(column.Get(n)) +
             ">" + std::to_string(normalized.Get(n));
    });
    return out;
  }

  cluster::Cluster cluster_;
};

constexpr const char* kAllFit = "a1 ok | a2 ok | b1 ok | w1 ok | x1 ok";

TEST_F(NetworkOverheadTest, PodsWithoutDependenciesFitAnywhere) {
  EXPECT_EQ(Filter(MakePod("alone")), kAllFit);
  Group(10);
  Costs();
  EXPECT_EQ(Filter(Pod("b", "back")), kAllFit);
  EXPECT_EQ(Filter(Pod("f", "front")), kAllFit) << "nothing is scheduled";
  EXPECT_EQ(Score(MakePod("alone2")), "a1:0>0 a2:0>0 b1:0>0 w1:0>0 x1:0>0");
}

TEST_F(NetworkOverheadTest, DependenciesMustBeNearEnough) {
  Group(10);
  Costs();
  cluster_.AddPod(Pod("b", "back", "a1"));
  EXPECT_EQ(Filter(Pod("f", "front")),
            "a1 ok | a2 ok | b1 ok | w1 Unschedulable: Node w1 does not meet several network "
            "requirements from Workload dependencies: Satisfied: 0 Violated: 1 | x1 ok")
      << "from b to a it costs 5, from west to east 20; from nowhere nothing is known";
  // 0 on the node, 1 in the zone, then by table, 100 where it is silent.
  EXPECT_EQ(Score(Pod("f2", "front")), "a1:0>100 a2:1>99 b1:5>95 w1:20>80 x1:100>0");
}

TEST_F(NetworkOverheadTest, AsManyMayBeViolatedAsAreSatisfied) {
  Group(1);
  Costs();
  cluster_.AddPod(Pod("b1", "back", "a1"));
  EXPECT_EQ(Filter(Pod("f", "front")),
            "a1 ok | a2 ok | b1 Unschedulable: Node b1 does not meet several network requirements "
            "from Workload dependencies: Satisfied: 0 Violated: 1 | w1 Unschedulable: Node w1 does "
            "not meet several network requirements from Workload dependencies: Satisfied: 0 "
            "Violated: 1 | x1 ok");
  cluster_.AddPod(Pod("b2", "back", "b1"));
  EXPECT_EQ(Filter(Pod("f2", "front")),
            "a1 ok | a2 ok | b1 ok | w1 Unschedulable: Node w1 does not meet several network "
            "requirements from Workload dependencies: Satisfied: 0 Violated: 2 | x1 ok");
}

TEST_F(NetworkOverheadTest, PeersWhosePlaceIsUnknownAreViolations) {
  Group(10);
  Costs();
  cluster_.AddPod(Pod("b", "back", "x1"));
  EXPECT_EQ(Score(Pod("f2", "front")), "a1:100>0 a2:100>0 b1:100>0 w1:100>0 x1:0>100");
}

TEST_F(NetworkOverheadTest, MissingObjectsRejectThePod) {
  EXPECT_EQ(Filter(Pod("f1", "front")),
            "UnschedulableAndUnresolvable: AppGroup g not found in namespaces default");
  Group(10, "");
  EXPECT_EQ(Filter(Pod("f2", "front")),
            "UnschedulableAndUnresolvable: AppGroup g not found in namespaces default")
      << "it has no uid";
  Group(10);
  EXPECT_EQ(Filter(Pod("f3", "front")),
            "UnschedulableAndUnresolvable: NetworkTopology nt-default not found in namespaces "
            "default");
}

TEST_F(NetworkOverheadTest, APeerOnAnUnknownNodeIsAnError) {
  Group(10);
  Costs();
  cluster_.AddPod(Pod("b", "back", "gone"));
  EXPECT_EQ(Filter(Pod("f", "front")),
            "Error: running PreFilter plugin \"NetworkOverhead\": pod hostname not found: nodeinfo "
            "not found for node name \"gone\"");
}

}  // namespace
}  // namespace berth::plugins::network_overhead

#include "plugins/node_declared_features/node_declared_features.h"

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_declared_features {
namespace {

api::Node Node(const std::string& name, std::vector<std::string> features) {
  api::Node node = MakeNode(name);
  node.status.declared_features = std::move(features);
  return node;
}

api::Pod RestartsAll(const std::string& name) {
  api::Pod pod = MakePod(name).Requests("cpu", "1");
  pod.spec.containers[0].restart_policy_rules = {{"RestartAllContainers"}};
  return pod;
}

TEST(NodeDeclaredFeatures, OnlyNodesThatDeclareWhatThePodNeeds) {
  const config::Behaviour behaviour{config::FeatureGates(36)};
  cluster::Cluster cluster;
  cluster.SetNode(Node("none", {}));
  cluster.SetNode(Node("other", {"Other"}));
  cluster.SetNode(Node("all", {"Other", "RestartAllContainersOnContainerExits"}));
  OnePlugin plugin(cluster, &Make, {}, behaviour);
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("plain"))), "skip");
  EXPECT_EQ(plugin.Filter(cluster.AddPod(RestartsAll("p"))),
            "none UnschedulableAndUnresolvable: node(s) didn't match Pod's required features | "
            "other UnschedulableAndUnresolvable: node(s) didn't match Pod's required features | "
            "all ok");
}

TEST(NodeDeclaredFeatures, In135TheReasonNamesThem) {
  config::FeatureGates gates(35);
  ASSERT_TRUE(gates.Set("NodeDeclaredFeatures=true"));
  cluster::Cluster cluster;
  cluster.SetNode(Node("none", {}));
  OnePlugin plugin(cluster, &Make, {}, config::Behaviour(gates));
  EXPECT_EQ(plugin.Filter(cluster.AddPod(RestartsAll("p"))),
            "none UnschedulableAndUnresolvable: node declared features check failed - unsatisfied "
            "requirements: RestartAllContainersOnContainerExits");
}

}  // namespace
}  // namespace berth::plugins::node_declared_features

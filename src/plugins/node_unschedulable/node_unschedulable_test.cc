#include "plugins/node_unschedulable/node_unschedulable.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_unschedulable {
namespace {

TEST(NodeUnschedulable, CordonedNodesTakeOnlyPodsThatTolerateIt) {
  struct Case {
    const char* what;
    api::Pod pod;
    bool tolerates;
  };
  const std::string key = "node.kubernetes.io/unschedulable";
  const Case cases[] = {
      {"no toleration", MakePod("p"), false},
      {"for this taint", MakePod("p").Tolerates(key, "Exists", "", "NoSchedule"), true},
      {"for any effect", MakePod("p").Tolerates(key), true},
      {"for everything", MakePod("p").Tolerates(""), true},
      {"for another effect", MakePod("p").Tolerates(key, "Exists", "", "NoExecute"), false},
      {"for another value", MakePod("p").Tolerates(key, "Equal", "x"), false},
      {"for another taint", MakePod("p").Tolerates("other"), false},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    for (int i = 0; i < 70; ++i) cluster.SetNode(MakeNode("n" + std::to_string(i)));
    cluster.SetNode(MakeNode("cordoned").Cordoned());
    OnePlugin plugin(cluster, &Make);
    const std::string answers = plugin.Filter(cluster.AddPod(c.pod));
    EXPECT_EQ(answers.ends_with("n69 ok | cordoned ok"), c.tolerates) << c.what;
    EXPECT_EQ(answers.ends_with("n69 ok | cordoned UnschedulableAndUnresolvable: node(s) were "
                                "unschedulable"),
              !c.tolerates)
        << c.what;
  }
}

}  // namespace
}  // namespace berth::plugins::node_unschedulable

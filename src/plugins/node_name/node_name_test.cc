#include "plugins/node_name/node_name.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_name {
namespace {

TEST(NodeName, OnlyTheNodeThatIsNamed) {
  const std::string no =
      "UnschedulableAndUnresolvable: node(s) didn't match the requested node name";
  struct Case {
    const char* what;
    const char* node;
    std::string want;
  };
  const Case cases[] = {
      {"none is named", "", "a ok | b ok"},
      {"one is named", "b", "a " + no + " | b ok"},
      {"one that does not exist is named", "x", "a " + no + " | b " + no},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("a"));
    cluster.SetNode(MakeNode("b"));
    OnePlugin plugin(cluster, &Make);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("p").On(c.node))), c.want) << c.what;
  }
}

}  // namespace
}  // namespace berth::plugins::node_name

#include "plugins/node_name/node_name.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_name {
namespace {

// As PreFilter and Filter plugin, which it is from 1.37 on. The recorded decisions of 1.34 and 1.35
// cover Filter alone.
TEST(NodeName, OnlyTheNodeThatIsNamed) {
  struct Case {
    const char* what;
    const char* node;
    std::string want;
  };
  const Case cases[] = {
      {"none is named", "", "a ok | b ok"},
      {"one is named", "b", "[b] b ok"},
      {"one that does not exist is named", "x", "[x] "},
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

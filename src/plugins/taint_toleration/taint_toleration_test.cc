#include "plugins/taint_toleration/taint_toleration.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::taint_toleration {
namespace {

const std::string kNo = "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)";

TEST(TaintToleration, UntoleratedTaintsForbidANode) {
  struct Case {
    const char* what;
    MakeNode node;
    MakePod pod;
    bool ok;
  };
  const auto node = [] { return MakeNode("a"); };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"no taint", node(), pod(), true},
      {"NoSchedule", node().Taint("k", "NoSchedule"), pod(), false},
      {"NoExecute", node().Taint("k", "NoExecute"), pod(), false},
      {"PreferNoSchedule is a wish", node().Taint("k", "PreferNoSchedule"), pod(), true},
      {"tolerated by key", node().Taint("k", "NoSchedule"), pod().Tolerates("k"), true},
      {"tolerated by value", node().Taint("k", "NoSchedule", "v"),
       pod().Tolerates("k", "Equal", "v"), true},
      {"another value", node().Taint("k", "NoSchedule", "w"), pod().Tolerates("k", "Equal", "v"),
       false},
      {"another effect", node().Taint("k", "NoSchedule"),
       pod().Tolerates("k", "Exists", "", "NoExecute"), false},
      {"one of two", node().Taint("k", "NoSchedule").Taint("l", "NoExecute"), pod().Tolerates("k"),
       false},
      {"both of two", node().Taint("k", "NoSchedule").Taint("l", "NoExecute"),
       pod().Tolerates("k").Tolerates("l"), true},
      {"everything is tolerated", node().Taint("k", "NoSchedule").Taint("l", "NoExecute"),
       pod().Tolerates(""), true},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(c.node);
    OnePlugin plugin(cluster, &Make);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), c.ok ? "a ok" : "a " + kNo) << c.what;
  }
}

TEST(TaintToleration, ScoresByWhatIsNotTolerated) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("clean"));
  cluster.SetNode(MakeNode("one").Taint("k", "PreferNoSchedule"));
  cluster.SetNode(MakeNode("two").Taint("k", "PreferNoSchedule").Taint("l", "PreferNoSchedule"));
  cluster.SetNode(MakeNode("hard").Taint("k", "NoSchedule"));
  OnePlugin plugin(cluster, &Make);
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("p"))),
            "clean 0>100 | one 1>50 | two 2>0 | hard 0>100");
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("q").Tolerates("k"))),
            "clean 0>100 | one 0>100 | two 1>0 | hard 0>100");
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("r").Tolerates("k", "Exists", "", "NoSchedule"))),
            "clean 0>100 | one 1>50 | two 2>0 | hard 0>100")
      << "a toleration of another effect does not count";
}

TEST(TaintToleration, WithoutTaintsAllNodesAreAsGood) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a"));
  cluster.SetNode(MakeNode("b"));
  OnePlugin plugin(cluster, &Make);
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("p"))), "a 0>100 | b 0>100");
}

TEST(TaintToleration, TaintsThatComeLaterAreSeenByPodsOfTheSameShape) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a"));
  OnePlugin plugin(cluster, &Make);
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("p"))), "a ok");
  cluster.SetNode(MakeNode("a").Taint("k", "NoSchedule"));
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("q"))), "a " + kNo);
}

}  // namespace
}  // namespace berth::plugins::taint_toleration

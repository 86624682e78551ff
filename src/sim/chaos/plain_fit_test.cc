#include "sim/chaos/plain_fit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::sim {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

struct Case {
  std::string name;
  api::Pod pod;
  api::Node node;
  std::vector<api::Pod> others;
  std::string why;
};

TEST(PlainFit, SaysWhatIsInTheWay) {
  const auto node = [] { return MakeNode("n").Cpu("2").Memory("1Gi"); };
  const std::vector<Case> cases = {
      {"room for it", MakePod("p").Requests("cpu", "2"), node(), {}, ""},
      {"others have taken it",
       MakePod("p").Requests("cpu", "1500m"),
       node(),
       {MakePod("o").Requests("cpu", "1")},
       "cpu is short: 1500 wanted, 1000 of 2000 used"},
      {"a resource the node has not",
       MakePod("p").Requests("example.com/gpu", "1"),
       node(),
       {},
       "example.com/gpu is short: 1 wanted, 0 of 0 used"},
      {"who asks for nothing fits a full node",
       MakePod("p"),
       node(),
       {MakePod("o").Requests("cpu", "9")},
       ""},
      {"but not one with too many pods",
       MakePod("p"),
       node().Pods("1"),
       {MakePod("o")},
       "too many pods"},
      {"a cordon", MakePod("p"), node().Cordoned(), {}, "the node is cordoned"},
      {"a cordon may be tolerated",
       MakePod("p").Tolerates("node.kubernetes.io/unschedulable"),
       node().Cordoned(),
       {},
       ""},
      {"a taint", MakePod("p"), node().Taint("t", "NoSchedule"), {}, "taint t is not tolerated"},
      {"a wish is no taint", MakePod("p"), node().Taint("t", "PreferNoSchedule"), {}, ""},
      {"a selector",
       MakePod("p").NodeSelector("disk", "ssd"),
       node().Label("disk", "hdd"),
       {},
       "the node selector does not match"},
      {"a port",
       MakePod("p").HostPort(80),
       node(),
       {MakePod("o").HostPort(81).HostPort(80)},
       "host port 80 is taken"},
  };
  for (const Case& c : cases) {
    std::vector<const api::Pod*> others;
    for (const api::Pod& other : c.others) others.push_back(&other);
    EXPECT_EQ(WhyNot(c.pod, c.node, others), c.why) << c.name;
  }
}

TEST(PlainFit, AntiAffinityRepels) {
  api::Pod shy = MakePod("shy").Label("group", "g");
  api::PodAffinityTerm term;
  term.label_selector.emplace().match_labels["group"] = "g";
  shy.spec.affinity.emplace()
      .pod_anti_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {term};
  EXPECT_FALSE(IsPlain(shy));
  EXPECT_TRUE(Repels(shy, MakePod("p").Label("group", "g")));
  EXPECT_FALSE(Repels(shy, MakePod("p").Label("group", "h")));
  EXPECT_FALSE(Repels(shy, MakePod("p").Label("group", "g").Namespace("other")));
  EXPECT_TRUE(IsPlain(MakePod("p")));
  EXPECT_FALSE(IsPlain(MakePod("p").Volume("{'name':'v','persistentVolumeClaim':{}}")));
}

}  // namespace
}  // namespace berth::sim

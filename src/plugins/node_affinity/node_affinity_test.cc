#include "plugins/node_affinity/node_affinity.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_affinity {
namespace {

using cluster::FromText;
using Names = std::vector<std::string>;

std::string Field(const std::string& values, const std::string& op = "In",
                  const std::string& key = "metadata.name") {
  return "{'key':'" + key + "','operator':'" + op + "','values':[" + values + "]}";
}
std::string Fields(const std::string& fields) { return "{'matchFields':[" + fields + "]}"; }
std::string Labels(const std::string& key, const std::string& op, const std::string& values) {
  return "{'matchExpressions':[{'key':'" + key + "','operator':'" + op + "','values':[" + values +
         "]}]}";
}
std::string Required(const std::string& terms) {
  return "{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" + terms + "]}}";
}
std::string Preferred(const std::string& weighted) {
  return "{'preferredDuringSchedulingIgnoredDuringExecution':[" + weighted + "]}";
}
std::string Wish(int weight, const std::string& term) {
  return "{'weight':" + std::to_string(weight) + ",'preference':" + term + "}";
}

TEST(NodesNamedBy, ReadsFieldSelectors) {
  struct Case {
    const char* what;
    std::string terms;
    std::optional<Names> want;
  };
  const Case cases[] = {
      {"one term names nodes", Fields(Field("'b','a','b'")), Names{"a", "b"}},
      {"terms are ORed", Fields(Field("'a'")) + "," + Fields(Field("'c'")), Names{"a", "c"}},
      {"fields of a term are ANDed", Fields(Field("'a','b'") + "," + Field("'b','c'")), Names{"b"}},
      {"to nothing", Fields(Field("'a'") + "," + Field("'b'")), Names{}},
      {"a term that names none leaves all nodes",
       Fields(Field("'a'")) + "," + Labels("zone", "In", "'x'"), std::nullopt},
      {"NotIn names none", Fields(Field("'a'", "NotIn")), std::nullopt},
      {"another field names none", Fields(Field("'a'", "In", "metadata.uid")), std::nullopt},
      {"an empty term names none", "{}", std::nullopt},
      {"labels beside a name do not widen it",
       "{'matchFields':[" + Field("'a'") +
           "],'matchExpressions':[{'key':'k','operator':'Exists'}]}",
       Names{"a"}},
  };
  for (const Case& c : cases) {
    const auto selector = FromText<api::NodeSelector>("{'nodeSelectorTerms':[" + c.terms + "]}");
    EXPECT_EQ(NodesNamedBy(selector), c.want) << c.what;
  }
}

void AddNodes(cluster::Cluster& cluster) {
  cluster.SetNode(MakeNode("a").Label("zone", "x").Label("cores", "8"));
  cluster.SetNode(MakeNode("b").Label("zone", "y").Label("cores", "16"));
  cluster.SetNode(MakeNode("c"));
}

const std::string kNo =
    "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector";

TEST(NodeAffinity, RequiredTermsAndNodeSelector) {
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"asks for nothing", pod(), "skip"},
      {"only wishes", pod().NodeAffinity(Preferred(Wish(1, Labels("zone", "In", "'x'")))), "skip"},
      {"node selector", pod().NodeSelector("zone", "x"), "a ok | b " + kNo + " | c " + kNo},
      {"In", pod().NodeAffinity(Required(Labels("zone", "In", "'x','y'"))),
       "a ok | b ok | c " + kNo},
      {"NotIn also takes nodes without the label",
       pod().NodeAffinity(Required(Labels("zone", "NotIn", "'x'"))), "a " + kNo + " | b ok | c ok"},
      {"Exists", pod().NodeAffinity(Required(Labels("zone", "Exists", ""))),
       "a ok | b ok | c " + kNo},
      {"DoesNotExist", pod().NodeAffinity(Required(Labels("zone", "DoesNotExist", ""))),
       "a " + kNo + " | b " + kNo + " | c ok"},
      {"Gt", pod().NodeAffinity(Required(Labels("cores", "Gt", "'8'"))),
       "a " + kNo + " | b ok | c " + kNo},
      {"Lt", pod().NodeAffinity(Required(Labels("cores", "Lt", "'16'"))),
       "a ok | b " + kNo + " | c " + kNo},
      {"terms are ORed",
       pod().NodeAffinity(
           Required(Labels("zone", "In", "'x'") + "," + Labels("zone", "DoesNotExist", ""))),
       "a ok | b " + kNo + " | c ok"},
      {"selector and terms are ANDed",
       pod().NodeSelector("zone", "x").NodeAffinity(Required(Labels("cores", "Gt", "'8'"))),
       "a " + kNo + " | b " + kNo + " | c " + kNo},
      {"no terms match nothing", pod().NodeAffinity(Required("")),
       "a " + kNo + " | b " + kNo + " | c " + kNo},
      {"an empty term matches nothing", pod().NodeAffinity(Required("{}")),
       "a " + kNo + " | b " + kNo + " | c " + kNo},
      {"a name", pod().NodeAffinity(Required(Fields(Field("'b'")))), "[b] b ok"},
      {"names, one of them unknown",
       pod().NodeAffinity(Required(Fields(Field("'b'")) + "," + Fields(Field("'x'")))),
       "[b x] b ok"},
      {"two names in one requirement are not valid, so no node matches",
       pod().NodeAffinity(Required(Fields(Field("'a','b'")))), "[a b] a " + kNo + " | b " + kNo},
      {"names that exclude each other",
       pod().NodeAffinity(Required(Fields(Field("'a'") + "," + Field("'b'")))),
       "UnschedulableAndUnresolvable: pod affinity terms conflict"},
      {"not a name", pod().NodeAffinity(Required(Fields(Field("'b'", "NotIn")))),
       "a ok | b " + kNo + " | c ok"},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    AddNodes(cluster);
    OnePlugin plugin(cluster, &Make);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), c.want) << c.what;
  }
}

TEST(NodeAffinity, LabelsThatComeLaterAreSeenByPodsOfTheSameShape) {
  cluster::Cluster cluster;
  AddNodes(cluster);
  OnePlugin plugin(cluster, &Make);
  const auto pod = [](const char* name) { return MakePod(name).NodeSelector("zone", "new"); };
  EXPECT_EQ(plugin.Filter(cluster.AddPod(pod("p"))), "a " + kNo + " | b " + kNo + " | c " + kNo);
  cluster.SetNode(MakeNode("c").Label("zone", "new"));
  EXPECT_EQ(plugin.Filter(cluster.AddPod(pod("q"))), "a " + kNo + " | b " + kNo + " | c ok");
}

TEST(NodeAffinity, WishesAddUp) {
  cluster::Cluster cluster;
  AddNodes(cluster);
  OnePlugin plugin(cluster, &Make);
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("none"))), "skip");
  EXPECT_EQ(
      plugin.Score(cluster.AddPod(MakePod("p").NodeAffinity(Preferred(
          Wish(10, Labels("zone", "In", "'x'")) + "," + Wish(30, Labels("cores", "Exists", "")))))),
      "a 40>100 | b 30>75 | c 0>0");
  EXPECT_EQ(plugin.Score(cluster.AddPod(
                MakePod("q").NodeAffinity(Preferred(Wish(10, Labels("zone", "In", "'nowhere'")))))),
            "a 0>0 | b 0>0 | c 0>0");
  const std::string failure = plugin.Score(cluster.AddPod(
      MakePod("r").NodeAffinity(Preferred(Wish(10, Labels("zone", "Near", "'x'"))))));
  EXPECT_TRUE(failure.starts_with("running PreScore plugin \"NodeAffinity\": ")) << failure;
}

TEST(NodeAffinity, AddedAffinityHoldsForAllPods) {
  cluster::Cluster cluster;
  AddNodes(cluster);
  config::NodeAffinityArgs args;
  args.added_affinity = FromText<api::NodeAffinity>(Required(Labels("zone", "Exists", "")));
  args.added_affinity->preferred_during_scheduling_ignored_during_execution =
      FromText<api::NodeAffinity>(Preferred(Wish(5, Labels("zone", "In", "'y'"))))
          .preferred_during_scheduling_ignored_during_execution;
  OnePlugin plugin(cluster, &Make, args);
  const std::string enforced =
      "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity";
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("p"))), "a ok | b ok | c " + enforced);
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("q").NodeSelector("zone", "y"))),
            "a " + kNo + " | b ok | c " + enforced)
      << "what the scheduler enforces is told first";
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("r"))), "a 0>0 | b 5>100 | c 0>0");
}

TEST(NodeAffinity, AddedAffinityThatDoesNotParseIsRefused) {
  cluster::Cluster cluster;
  config::NodeAffinityArgs args;
  args.added_affinity = FromText<api::NodeAffinity>(Required(Labels("zone", "Near", "'x'")));
  const auto plugin = Make(args, {cluster});
  ASSERT_FALSE(plugin.has_value());
  EXPECT_TRUE(plugin.error().Message().starts_with(
      "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: "))
      << plugin.error().Message();
}

}  // namespace
}  // namespace berth::plugins::node_affinity

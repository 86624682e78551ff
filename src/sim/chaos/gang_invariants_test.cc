#include "sim/chaos/gang_invariants.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/chaos/inhabitants.h"
#include "sim/host/event_loop.h"

namespace berth::sim {
namespace {

class GangInvariantsTest : public ::testing::Test {
 protected:
  GangInvariantsTest() {
    api_.Subscribe([this](const ApiChange& change) { gangs_.OnChange(change); });
    group_.name = "g";
    group_.replicas = 3;
    group_.min_count = 2;
    group_.pod.metadata.namespace_ = kNamespace;
    group_.pod.spec.scheduling_group.emplace().pod_group_name = "g";
    api_.Create(MakePodGroup(group_, /*evicted_whole=*/false));
    for (const char* name : {"p", "q", "r"}) api_.Create(MakePodOf(group_, name));
  }
  void Bind(const std::string& pod) { api_.Bind({kNamespace, pod, {}}, "node"); }

  EventLoop loop_{api::Time::FromUnixNano(1'767'225'600 * kSecond)};
  ModelApi api_{loop_};
  GangInvariants gangs_{api_};
  GroupTemplate group_;
};

TEST_F(GangInvariantsTest, AGangHasNoPodsOnNodesOrItsMinimum) {
  EXPECT_EQ(gangs_.WhatIsSplit(), "");
  Bind("p");
  EXPECT_EQ(gangs_.WhatIsSplit(), "1 of the pods of g have nodes, its minimum is 2");
  Bind("q");
  EXPECT_EQ(gangs_.WhatIsSplit(), "");
  Bind("r");
  EXPECT_EQ(gangs_.WhatIsSplit(), "");
}

TEST_F(GangInvariantsTest, UnlessSomethingElseHasDiminishedIt) {
  Bind("p");
  Bind("q");
  api_.DeletePod({kNamespace, "q", {}}, 0);
  EXPECT_EQ(gangs_.WhatIsSplit(), "");
}

TEST_F(GangInvariantsTest, AGangThatFitsDoesNotWait) {
  const auto waits = [](const api::Pod& pod) { return pod.spec.node_name.empty(); };
  std::string kept_free_for_h;
  const auto nominated = [&](const api::Pod& pod) {
    return pod.metadata.name == "s" ? kept_free_for_h : "";
  };
  const auto starved = [&] { return gangs_.WhatIsStarved(waits, nominated); };
  EXPECT_EQ(starved(), "") << "no nodes";
  api::Node node;
  node.metadata.name = "node";
  node.status.allocatable = {{"cpu", *api::Quantity::Parse("4")},
                             {"memory", *api::Quantity::Parse("4Gi")},
                             {"pods", *api::Quantity::Parse("1")}};
  api_.Create(node);
  EXPECT_EQ(starved(), "") << "one fits";
  node.metadata.name = "other";
  api_.Create(node);
  EXPECT_EQ(starved(), "g waits, and 2 of its pods fit, its minimum is 2");

  // The scheduler keeps a place free for a pod of another gang, which does not fit as a whole.
  GroupTemplate other = group_;
  other.name = "h";
  other.min_count = 5;
  other.pod.spec.scheduling_group->pod_group_name = "h";
  api_.Create(MakePodGroup(other, /*evicted_whole=*/false));
  api_.Create(MakePodOf(other, "s"));
  EXPECT_EQ(starved(), "g waits, and 2 of its pods fit, its minimum is 2");
  kept_free_for_h = "other";
  EXPECT_EQ(starved(), "");
  kept_free_for_h.clear();

  Bind("p");
  EXPECT_EQ(starved(), "") << "it is not the whole gang that waits";
}

TEST_F(GangInvariantsTest, GroupsOfOtherApisCountToo) {
  GroupTemplate group;
  group.name = "h";
  group.min_count = 2;
  group.group_api = GroupApi::kVolcano;
  group.pod.metadata.namespace_ = kNamespace;
  group.pod.metadata.annotations["scheduling.k8s.io/group-name"] = "h";
  api_.Create(MakePodGroup(group, /*evicted_whole=*/false));
  for (const char* name : {"s", "t"}) api_.Create(MakePodOf(group, name));
  Bind("s");
  EXPECT_EQ(gangs_.WhatIsSplit(), "1 of the pods of h have nodes, its minimum is 2");
}

TEST_F(GangInvariantsTest, ACrashExcusesIt) {
  Bind("p");
  gangs_.Crashed();
  EXPECT_EQ(gangs_.WhatIsSplit(), "");
}

}  // namespace
}  // namespace berth::sim

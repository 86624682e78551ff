#include "cluster/pods/group_members.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

api::Pod Member(const std::string& name, const std::string& group) {
  api::Pod pod = MakePod(name);
  if (group.empty()) return pod;
  pod.spec.scheduling_group = api::PodSchedulingGroup{group};
  return pod;
}

TEST(GroupMembers, FollowPodsAsTheyComeChangeAndGo) {
  Cluster cluster;
  const PodId a = cluster.AddPod(Member("a", "g"));
  const PodId b = cluster.AddPod(Member("b", "g"));
  const PodId alone = cluster.AddPod(Member("alone", ""));
  const std::string ns = cluster.GetPod(a).namespace_();
  const auto of = [&](std::string_view group) {
    const auto members = cluster.Members().Of(ns, group);
    std::vector<PodId> sorted(members.begin(), members.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  EXPECT_EQ(of("g"), (std::vector{a, b}));
  EXPECT_EQ(of("h"), std::vector<PodId>());
  EXPECT_TRUE(cluster.Members().Of("elsewhere", "g").empty());
  EXPECT_EQ(GroupNameOf(cluster.GetPod(alone)), nullptr);
  ASSERT_NE(GroupNameOf(cluster.GetPod(a)), nullptr);
  EXPECT_EQ(*GroupNameOf(cluster.GetPod(a)), "g");

  cluster.UpdatePod(a, Member("a", "h"));
  EXPECT_EQ(of("g"), std::vector{b});
  EXPECT_EQ(of("h"), std::vector{a});
  api::Pod status = Member("b", "g");
  status.status.nominated_node_name = "n";
  cluster.UpdateStatus(b, status);
  EXPECT_EQ(of("g"), std::vector{b});
  cluster.RemovePod(b);
  EXPECT_EQ(of("g"), std::vector<PodId>());
}

}  // namespace
}  // namespace berth::cluster

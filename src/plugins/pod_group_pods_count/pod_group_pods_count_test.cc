#include "plugins/pod_group_pods_count/pod_group_pods_count.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::plugins::pod_group_pods_count {
namespace {

using ::testing::ElementsAre;

TEST(PodGroupPodsCount, ThePlacementOfTheMostPodsScoresHighest) {
  cluster::Cluster cluster;
  cluster.SetNode(cluster::MakeNode("n"));
  api::PodGroup group;
  group.metadata.namespace_ = "ns";
  group.metadata.name = "g";
  api::Pod placed = cluster::MakePod("p").On("n");
  placed.spec.scheduling_group.emplace().pod_group_name = "g";
  cluster.AddPod(placed);
  const PodGroupPodsCount plugin;
  std::vector<int64_t> scores(2);
  const std::vector<framework::ProposedAssignment> three(3);
  ASSERT_TRUE(plugin.ScorePlacement(cluster, {group, {}}, {}, three, &scores[0]).Ok());
  ASSERT_TRUE(plugin.ScorePlacement(cluster, {group, {}}, {}, {}, &scores[1]).Ok());
  EXPECT_THAT(scores, ElementsAre(4, 1));
  ASSERT_TRUE(plugin.NormalizePlacement(scores).Ok());
  EXPECT_THAT(scores, ElementsAre(100, 25));
  std::vector<int64_t> none(2);
  EXPECT_EQ(plugin.NormalizePlacement(none).Message(),
            "no pods from pod group are assigned to any of the candidate placements");
}

}  // namespace
}  // namespace berth::plugins::pod_group_pods_count

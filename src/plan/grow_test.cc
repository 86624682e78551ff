#include "plan/grow.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/site.h"

namespace berth::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PlanFit, ANodeIsAddedWhenTheNextPodFitsNowhere) {
  Site site(Node("a", 4) + Pod("w-1", "w", "", "3") + Pod("w-2", "w", "", "3") +
            Pod("w-3", "w", "", "1") + Pod("w-4", "w", "", "3"));
  const Plan plan = PlanFit(site.inventory, *site.mover, *site.inventory.FindNode("a"), 100);
  EXPECT_THAT(plan.nodes, SizeIs(2));
  EXPECT_EQ(plan.starts, 4);
  EXPECT_EQ(plan.nodes_after, 3);
}

TEST(PlanFit, APodLargerThanTheTypeIsHomelessAndAddsNothing) {
  Site site(Node("a", 4) + Pod("w-1", "w", "", "5"));
  const Plan plan = PlanFit(site.inventory, *site.mover, *site.inventory.FindNode("a"), 100);
  EXPECT_THAT(plan.nodes, SizeIs(0));
  EXPECT_EQ(plan.homeless, 1);
  EXPECT_THAT(plan.pods[0].message, HasSubstr("Insufficient cpu"));
  EXPECT_EQ(plan.nodes_after, 1);
}

TEST(PlanGrow, PendingPodsStartOnNewNodes) {
  Site site(Node("a", 4) + Pod("r-1", "r", "a", "4") + Pod("w-1", "w", "", "3") +
            Pod("w-2", "w", "", "3"));
  const Plan plan = PlanGrow(site.inventory, *site.mover, *site.inventory.FindNode("a"), 1);
  EXPECT_EQ(plan.starts, 1);
  EXPECT_EQ(plan.homeless, 1);
  EXPECT_EQ(Told(plan), "w-1 Starts >new-1; w-2 Homeless >");
}

TEST(PlanUpgrade, OldNodesGoInWaves) {
  Site site(Node("a", 2) + Node("b", 2) + Pod("w-1", "w", "a", "2") + Pod("w-2", "w", "b", "2"));
  const Plan plan = PlanUpgrade(site.inventory, *site.mover, {"a", "b"}, 1);
  EXPECT_EQ(Told(plan), "w-1 Moves a>new-1; w-2 Moves b>new-2");
  EXPECT_EQ(plan.nodes_after, 2);
  EXPECT_TRUE(plan.Works());
}

}  // namespace
}  // namespace berth::plan

#include "plan/node_map.h"

#include <gtest/gtest.h>

#include "plan/drain.h"
#include "plan/grow.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

constexpr std::string_view kPrices =
    "prices: [{selector: pool=a, hourly: 1.5}, {selector: pool=b, hourly: 0.25}]";

const NodeUse& Named(const NodeMap& map, std::string_view name) {
  for (const NodeUse& node : map.Nodes()) {
    if (node.name == name) return node;
  }
  static const NodeUse kNone;
  ADD_FAILURE() << "no node " << name;
  return kNone;
}

TEST(NodeMapTest, ADrainedNodeIsEmptyAndNoLongerPaidFor) {
  Site site(Node("one", 4, "pool: a") + Node("two", 4, "pool: b") +
            Pod("web-1", "web", "one", "1") + Pod("web-2", "web", "two", "1"));
  const PriceList prices = PriceList::Parse(kPrices).value();
  NodeMap map(site.inventory, prices);
  Plan plan = PlanDrain(site.inventory, *site.mover, {"one"});
  map.Finish(site.inventory, &plan);

  const NodeUse& one = Named(map, "one");
  EXPECT_EQ(one.change, "Freed");
  EXPECT_EQ(one.before, 25);
  EXPECT_EQ(one.after, 0);
  EXPECT_EQ(one.pods_after, 0);
  const NodeUse& two = Named(map, "two");
  EXPECT_EQ(two.change, "");
  EXPECT_EQ(two.before, 25);
  EXPECT_EQ(two.after, 50);
  EXPECT_EQ(two.pods_after, 2);
  EXPECT_EQ(plan.hourly_before, 1.75);
  EXPECT_EQ(plan.hourly_after, 0.25);
}

TEST(NodeMapTest, AddedNodesCostFromThenOn) {
  Site site(Node("one", 4, "pool: a") + Node("two", 4) + Pod("web-1", "web", "", "1"));
  const PriceList prices = PriceList::Parse(kPrices).value();
  NodeMap map(site.inventory, prices);
  const api::Node model = *site.inventory.FindNode("one");
  Plan plan = PlanGrow(site.inventory, *site.mover, model, 2);
  map.Finish(site.inventory, &plan);

  ASSERT_EQ(map.Nodes().size(), 4u);
  EXPECT_EQ(plan.hourly_before, 1.5);
  EXPECT_EQ(plan.hourly_after, 4.5);
  ASSERT_EQ(plan.warnings.size(), 1u);  // node two
  EXPECT_EQ(plan.warnings[0], "1 nodes have no price and count as free");
}

TEST(NodeMapTest, ReplacedNodesAreGone) {
  Site site(Node("one", 4, "pool: a") + Node("two", 4, "pool: a") +
            Pod("web-1", "web", "one", "3") + Pod("web-2", "web", "two", "3"));
  const PriceList prices = PriceList::Parse(kPrices).value();
  NodeMap map(site.inventory, prices);
  Plan plan = PlanUpgrade(site.inventory, *site.mover, {"one", "two"}, 1);
  map.Finish(site.inventory, &plan);
  ASSERT_EQ(map.Nodes().size(), 4u);
  EXPECT_EQ(Named(map, "one").change, "Freed");
  EXPECT_EQ(Named(map, "one").after, 0);
  EXPECT_EQ(plan.hourly_before, 3);
  EXPECT_EQ(plan.hourly_after, 3);
}

TEST(NodeMapTest, WithoutPricesThePlanNamesNoCost) {
  Site site(Node("one", 4) + Node("two", 4));
  const PriceList none;
  NodeMap map(site.inventory, none);
  Plan plan = PlanDrain(site.inventory, *site.mover, {"one"});
  map.Finish(site.inventory, &plan);
  EXPECT_FALSE(plan.hourly_before.has_value());
  EXPECT_TRUE(plan.warnings.empty());
}

}  // namespace
}  // namespace berth::plan

#include "history/pool_use.h"

#include <gtest/gtest.h>

namespace berth::history {
namespace {

constexpr sim::Nanos kHour = 3600 * sim::kSecond;

api::Node MakeNode(const std::string& name, const std::string& pool) {
  api::Node node;
  node.metadata.name = name;
  if (!pool.empty()) node.metadata.labels["pool"] = pool;
  return node;
}

api::Pod MakePod(const std::string& name, const std::string& node, const std::string& owner = "") {
  api::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = name;
  pod.spec.node_name = node;
  if (!owner.empty()) pod.metadata.owner_references.emplace_back().kind = owner;
  return pod;
}

TEST(PoolUseTest, CountsHoursAndMoneyWhileNodesExist) {
  const plan::PriceList prices =
      plan::PriceList::Parse("{prices: [{selector: pool=a, hourly: 2}]}").value();
  sim::EventLoop loop(api::Time::FromUnixNano(0));
  sim::ModelApi api(loop);
  PoolUse use(loop, api, prices);
  api.Create(MakeNode("a1", "a"));
  api.Create(MakeNode("a2", "a"));
  api.Create(MakeNode("b1", ""));
  api.Create(MakePod("daemon", "a2", "DaemonSet"));
  loop.RunUntil(kHour);
  api.Create(MakePod("web", "a1"));
  api.Create(MakePod("more", "a1"));
  loop.RunUntil(2 * kHour);
  api.Delete("Pod", "default", "web");
  loop.RunUntil(3 * kHour);
  api.Delete("Pod", "default", "more");
  api.Delete("Node", "", "a2");
  loop.RunUntil(4 * kHour);

  const auto costs = use.Costs();
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].pool, "");
  EXPECT_NEAR(costs[0].node_hours, 4, 1e-6);
  EXPECT_EQ(costs[0].cost, 0);
  EXPECT_FALSE(costs[0].priced);
  EXPECT_EQ(costs[1].pool, "a");
  EXPECT_TRUE(costs[1].priced);
  EXPECT_NEAR(costs[1].node_hours, 7, 1e-6);
  EXPECT_NEAR(costs[1].used_node_hours, 2, 1e-6);
  EXPECT_NEAR(costs[1].cost, 14, 1e-6);
  EXPECT_NEAR(costs[1].idle_cost, 10, 1e-6);
}

TEST(PoolUseTest, ANodeCanChangeItsPool) {
  const plan::PriceList prices;
  sim::EventLoop loop(api::Time::FromUnixNano(0));
  sim::ModelApi api(loop);
  PoolUse use(loop, api, prices);
  api.Create(MakeNode("n", "a"));
  loop.RunUntil(kHour);
  api.Modify<api::Node>("", "n", [](api::Node& node) { node.metadata.labels["pool"] = "b"; });
  loop.RunUntil(3 * kHour);
  const auto costs = use.Costs();
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_NEAR(costs[0].node_hours, 1, 1e-6);
  EXPECT_NEAR(costs[1].node_hours, 2, 1e-6);
}

}  // namespace
}  // namespace berth::history

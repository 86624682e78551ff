#include "scheduler/engine/pod_table.h"

#include <gtest/gtest.h>

namespace berth::scheduler {
namespace {

api::Pod With(const std::vector<std::string>& types) {
  api::Pod pod;
  for (const std::string& type : types) pod.status.conditions.emplace_back().type = type;
  return pod;
}

TEST(PodTableTest, APodIsKnownOnceItIsMarked) {
  PodTable pods;
  EXPECT_EQ(pods.Find(3), nullptr);
  pods.Of(3).version = 5;
  EXPECT_EQ(pods.Find(3), nullptr);
  pods.Of(3).known = true;
  ASSERT_NE(pods.Find(3), nullptr);
  EXPECT_EQ(pods.Find(3)->version, 5);
}

TEST(PodTableTest, EqualListsOfConditionTypesShareANumber) {
  PodTable pods;
  EXPECT_EQ(pods.NumberConditionTypes(With({})), 0);
  const uint16_t number = pods.NumberConditionTypes(With({"A", "B"}));
  EXPECT_NE(number, 0);
  EXPECT_EQ(pods.NumberConditionTypes(With({"A", "B"})), number);
  EXPECT_NE(pods.NumberConditionTypes(With({"B", "A"})), number) << "the order counts";
  for (int i = 0; i < 300; ++i) pods.NumberConditionTypes(With({std::to_string(i)}));
  EXPECT_EQ(pods.NumberConditionTypes(With({"one more"})), 0);
  EXPECT_EQ(pods.NumberConditionTypes(With({"A", "B"})), number);
}

}  // namespace
}  // namespace berth::scheduler

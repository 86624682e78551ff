#include "plan/prices.h"

#include <gtest/gtest.h>

namespace berth::plan {
namespace {

api::Node NodeWith(const api::StringMap& labels) {
  api::Node node;
  node.metadata.labels = labels;
  return node;
}

TEST(PriceListTest, TheFirstEntryThatMatchesCounts) {
  const auto prices = PriceList::Parse(
      "prices:\n- selector: type=large,spot=true\n  hourly: 0.5\n- selector: type=large\n"
      "  hourly: 2\n");
  ASSERT_TRUE(prices.has_value()) << prices.error().Message();
  EXPECT_EQ(prices->Hourly(NodeWith({{"type", "large"}, {"spot", "true"}})), 0.5);
  EXPECT_EQ(prices->Hourly(NodeWith({{"type", "large"}})), 2);
  EXPECT_EQ(prices->Hourly(NodeWith({{"type", "small"}})), std::nullopt);
}

TEST(PriceListTest, AnEntryWithoutSelectorIsForTheOthers) {
  const auto prices = PriceList::Parse("prices: [{hourly: 0.1}]");
  ASSERT_TRUE(prices.has_value()) << prices.error().Message();
  EXPECT_EQ(prices->Hourly(NodeWith({})), 0.1);
}

TEST(PriceListTest, ErrorsNameTheEntry) {
  const auto error = [](std::string_view text) {
    const auto prices = PriceList::Parse(text);
    return prices ? std::string() : prices.error().Message();
  };
  EXPECT_NE(error("prices: [{selector: a=b}]").find("prices[0].hourly"), std::string::npos);
  EXPECT_NE(error("prices: [{hourly: 1}, {hourly: -1}]").find("prices[1].hourly"),
            std::string::npos);
  EXPECT_NE(error("prices: [{selector: a==(, hourly: 1}]").find("prices[0].selector"),
            std::string::npos);
  EXPECT_NE(error("prices: [{hourly: 1, hourley: 2}]"), "");
  EXPECT_NE(error(""), "");
  EXPECT_NE(error("[1]"), "");
}

}  // namespace
}  // namespace berth::plan

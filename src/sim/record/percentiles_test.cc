#include "sim/record/percentiles.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

TEST(Percentile, IsAValueThatWasMeasured) {
  std::vector<int64_t> hundred;
  for (int64_t i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(Percentile(hundred, 50), 50);
  EXPECT_EQ(Percentile(hundred, 90), 90);
  EXPECT_EQ(Percentile(hundred, 99), 99);
  EXPECT_EQ(Percentile(hundred, 100), 100);
  EXPECT_EQ(Percentile(hundred, 0.1), 1);
}

TEST(Percentile, OfFewValues) {
  EXPECT_EQ(Percentile({}, 50), 0);
  EXPECT_EQ(Percentile({7}, 1), 7);
  EXPECT_EQ(Percentile({7}, 100), 7);
  EXPECT_EQ(Percentile({1, 2}, 50), 1) << "half of them do not exceed it";
  EXPECT_EQ(Percentile({1, 2}, 51), 2);
  EXPECT_EQ(Percentile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 90), 9);
}

TEST(CountedValues, AgreeWithSortedOnes) {
  CountedValues counted;
  std::vector<int64_t> sorted;
  for (int64_t value = 0; value < 50; ++value) {
    for (int64_t i = 0; i <= value % 7; ++i) {
      counted.Add(value);
      sorted.push_back(value);
    }
  }
  for (const double percent : {1.0, 33.0, 50.0, 90.0, 99.0, 100.0}) {
    EXPECT_EQ(counted.Percentile(percent), Percentile(sorted, percent)) << percent;
  }
  EXPECT_EQ(CountedValues().Percentile(50), 0);
}

}  // namespace
}  // namespace berth::sim

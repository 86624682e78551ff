#include "base/random.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Random, StaysBelowTheBound) {
  Random random(1);
  for (const uint64_t bound :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, uint64_t{1} << 63, UINT64_MAX}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.Below(bound), bound);
  }
}

TEST(Random, IsAFunctionOfItsSeed) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t x = a.Below(1'000'000);
    EXPECT_EQ(x, b.Below(1'000'000));
    differs = differs || x != c.Below(1'000'000);
  }
  EXPECT_TRUE(differs);
}

TEST(Random, GivesEveryNumberItsShare) {
  Random random(7);
  std::array<int, 5> seen{};
  for (int i = 0; i < 50'000; ++i) ++seen[random.Below(5)];
  for (const int count : seen) {
    EXPECT_GT(count, 9'500);
    EXPECT_LT(count, 10'500);
  }
}

}  // namespace
}  // namespace berth

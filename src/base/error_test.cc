#include "base/error.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

Result<int> Half(int x) {
  if (x % 2 != 0) return Fail("odd");
  return x / 2;
}

Result<int> Quarter(int x) {
  const auto half = Half(x);
  if (!half) return Fail(half.error().In("first half"));
  const auto quarter = Half(*half);
  if (!quarter) return Fail(quarter.error().In("second half"));
  return quarter;
}

TEST(Error, ResultsCarryAValueOrAMessageSeenFromOutside) {
  EXPECT_EQ(Quarter(12).value_or(-1), 3);
  EXPECT_EQ(Quarter(3).error().Message(), "first half: odd");
  EXPECT_EQ(Quarter(2).error().In("input").Message(), "input: second half: odd");
}

}  // namespace
}  // namespace berth

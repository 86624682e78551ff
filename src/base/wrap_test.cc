#include "base/wrap.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace berth {
namespace {

constexpr int64_t kMin = INT64_MIN;
constexpr int64_t kMax = INT64_MAX;

struct Case {
  const char* what;
  int64_t got;
  int64_t want;
};

TEST(Wrap, GoesAroundAsGoDoes) {
  const Case cases[] = {
      {"a sum that fits", WrapAdd(2, 3), 5},
      {"one more than the largest is the smallest", WrapAdd(kMax, 1), kMin},
      {"the smallest twice is zero", WrapAdd(kMin, kMin), 0},
      {"one less than the smallest is the largest", WrapSub(kMin, 1), kMax},
      {"the smallest has no positive counterpart", WrapSub(0, kMin), kMin},
      {"a product that fits", WrapMul(-4, 5), -20},
      {"half the range doubled is the smallest", WrapMul(int64_t{1} << 62, 2), kMin},
      {"the square of 2^32 is gone", WrapMul(int64_t{1} << 32, int64_t{1} << 32), 0},
      {"division truncates towards zero", WrapDiv(-7, 2), -3},
      {"division by -1", WrapDiv(7, -1), -7},
      {"the one quotient that overflows", WrapDiv(kMin, -1), kMin},
  };
  for (const Case& c : cases) EXPECT_EQ(c.got, c.want) << c.what;
}

TEST(Wrap, ConvertsDoublesAsAmd64Does) {
  const double limit = std::ldexp(1.0, 63);
  const Case cases[] = {
      {"truncates", TruncToInt64(2.9), 2},
      {"truncates towards zero", TruncToInt64(-2.9), -2},
      {"the largest double that fits", TruncToInt64(std::nextafter(limit, 0)), kMax - 1023},
      {"2^63 does not fit", TruncToInt64(limit), kMin},
      {"-2^63 fits", TruncToInt64(-limit), kMin},
      {"below -2^63", TruncToInt64(-1e300), kMin},
      {"infinity", TruncToInt64(std::numeric_limits<double>::infinity()), kMin},
      {"not a number", TruncToInt64(std::nan("")), kMin},
  };
  for (const Case& c : cases) EXPECT_EQ(c.got, c.want) << c.what;
}

}  // namespace
}  // namespace berth

#include "sim/scenario/spread.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

TEST(Spread, IsReadAsScenariosWriteIt) {
  EXPECT_EQ(*Spread::Parse("30s"), Spread::Fixed(30 * kSecond));
  EXPECT_EQ(*Spread::Parse("0s"), Spread::Fixed(0));
  EXPECT_EQ(*Spread::Parse("10s..2m"), (Spread{Spread::Kind::kUniform, 10 * kSecond, 2 * kMinute}));
  EXPECT_EQ(*Spread::Parse("exponential 5m"), (Spread{Spread::Kind::kExponential, 5 * kMinute, 0}));
}

TEST(Spread, RefusesWhatIsNoLengthOfTime) {
  for (const std::string text : {"", "30", "-1s", "1s..", "..1s", "exponential", "exponential -1s",
                                 "1s..2s..3s", "999999h", "1s-2s"}) {
    const auto spread = Spread::Parse(text);
    ASSERT_FALSE(spread.has_value()) << text;
    EXPECT_NE(spread.error().Message().find("\"" + text + "\""), std::string::npos)
        << spread.error().Message();
  }
  EXPECT_EQ(Spread::Parse("2m..10s").error().Message(),
            "\"2m..10s\" ends before it begins; the shorter time comes first");
}

TEST(Spread, DrawsWithinItsBounds) {
  Chance chance(1);
  const Spread uniform = *Spread::Parse("10s..11s");
  Nanos low = kMinute;
  Nanos high = 0;
  for (int i = 0; i < 1000; ++i) {
    const Nanos drawn = uniform.Draw(chance);
    low = std::min(low, drawn);
    high = std::max(high, drawn);
  }
  EXPECT_GE(low, 10 * kSecond);
  EXPECT_LE(high, 11 * kSecond);
  EXPECT_GT(high - low, 900 * kMillisecond);
}

TEST(Spread, ExponentialHasItsMean) {
  Chance chance(1);
  const Spread spread = *Spread::Parse("exponential 10s");
  double sum = 0;
  int below_mean = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const Nanos drawn = spread.Draw(chance);
    EXPECT_GE(drawn, 0);
    sum += static_cast<double>(drawn) / kSecond;
    below_mean += drawn < 10 * kSecond;
  }
  EXPECT_NEAR(sum / kDraws, 10, 0.3);
  EXPECT_NEAR(static_cast<double>(below_mean) / kDraws, 0.632, 0.02);
}

TEST(Chance, IsAFunctionOfItsSeed) {
  const auto draw = [](uint64_t seed) {
    Chance chance(seed);
    std::vector<Nanos> drawn;
    for (int i = 0; i < 10; ++i) drawn.push_back(chance.Exponential(kSecond));
    return drawn;
  };
  EXPECT_EQ(draw(3), draw(3));
  EXPECT_NE(draw(3), draw(4));
}

}  // namespace
}  // namespace berth::sim

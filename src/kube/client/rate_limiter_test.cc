#include "kube/client/rate_limiter.h"

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimiter, ABurstPassesAndTheRestWaitTheirTurn) {
  RateLimiter limiter(10, 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), net::Nanoseconds(0)) << i;
  EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), milliseconds(100));
  EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), milliseconds(200));
  // Half a second later the debt is paid and three tokens are there, not more.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Take(milliseconds(500)), net::Nanoseconds(0)) << i;
  EXPECT_EQ(limiter.Take(milliseconds(500)), milliseconds(100));
}

TEST(RateLimiter, TokensDoNotPileUpBeyondTheBurst) {
  RateLimiter limiter(100, 2);
  EXPECT_EQ(limiter.Take(seconds(1000)), net::Nanoseconds(0));
  EXPECT_EQ(limiter.Take(seconds(1000)), net::Nanoseconds(0));
  EXPECT_EQ(limiter.Take(seconds(1000)), milliseconds(10));
}

TEST(RateLimiter, ZeroMeansClientGosDefaultsAndNegativeNoLimit) {
  RateLimiter defaults(0, 0);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(defaults.Take(net::Nanoseconds(0)), net::Nanoseconds(0)) << i;
  EXPECT_EQ(defaults.Take(net::Nanoseconds(0)), milliseconds(200));
  RateLimiter unlimited(-1, 1);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(unlimited.Take(net::Nanoseconds(0)), net::Nanoseconds(0)) << i;
}

TEST(RateLimiter, AClockThatStandsStillOrGoesBackGivesNothing) {
  RateLimiter limiter(1, 1);
  EXPECT_EQ(limiter.Take(seconds(10)), net::Nanoseconds(0));
  EXPECT_EQ(limiter.Take(seconds(5)), seconds(1));
}

TEST(RateLimiter, ATokenGivenBackServesTheNextUnlessOthersCameAfterIt) {
  RateLimiter limiter(1, 1);
  EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), net::Nanoseconds(0));
  const net::Nanoseconds wait = limiter.Take(net::Nanoseconds(0));
  EXPECT_EQ(wait, seconds(1));
  limiter.GiveBack(net::Nanoseconds(0), net::Nanoseconds(0), wait);
  EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), seconds(1));
  const net::Nanoseconds later = limiter.Take(net::Nanoseconds(0));
  EXPECT_EQ(later, seconds(2));
  // The earlier one gives up: the later one has counted on it, so nothing comes back.
  limiter.GiveBack(net::Nanoseconds(0), net::Nanoseconds(0), seconds(1));
  EXPECT_EQ(limiter.Take(net::Nanoseconds(0)), seconds(3));
}

}  // namespace
}  // namespace berth::kube

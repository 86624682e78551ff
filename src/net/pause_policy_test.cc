#include "net/pause_policy.h"

#include <gtest/gtest.h>

namespace berth::net {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Nanoseconds kNone{0};
constexpr Nanoseconds kLongest = milliseconds(50);

// A sender with `count` requests in flight, the last of those before them answered after `took`.
PausePolicy Sender(size_t count, Nanoseconds took) {
  PausePolicy policy;
  policy.FollowBacklog(kLongest);
  for (size_t i = 0; i <= count; ++i) policy.Sent();
  policy.Answered(took);
  return policy;
}

TEST(PausePolicyTest, NoPauseWithFewRequestsInFlight) {
  for (size_t count = 0; count < PausePolicy::kManyInFlight; ++count) {
    for (const Nanoseconds work : {Nanoseconds(0), Nanoseconds(milliseconds(10))}) {
      EXPECT_EQ(Sender(count, hours(1)).After(work), kNone) << count << " in flight";
    }
  }
}

TEST(PausePolicyTest, PauseIsAShareOfTheTimeOfAnAnswer) {
  struct Case {
    const char* what;
    Nanoseconds took;
    bool held_back;
    Nanoseconds pause;
  };
  const Case cases[] = {
      {"a fast server", milliseconds(5), false, microseconds(250)},
      {"the longest time with a pause of at most 1 ms", milliseconds(20), false, milliseconds(1)},
      {"a server at its limit", milliseconds(400), false, milliseconds(20)},
      {"never above the limit", hours(1), false, kLongest},
      {"requests are held back", milliseconds(100), true, milliseconds(25)},
      {"requests are held back, never above the limit", hours(1), true, kLongest},
      {"an answer that took no time", kNone, false, kNone},
  };
  for (const Case& c : cases) {
    PausePolicy policy = Sender(PausePolicy::kManyInFlight, c.took);
    policy.SetHeldBack(c.held_back);
    EXPECT_EQ(policy.After(kNone), c.pause) << c.what;
  }
}

TEST(PausePolicyTest, CpuTimeDoesNotLengthenTheSendersPause) {
  const PausePolicy policy = Sender(100, milliseconds(20));
  EXPECT_EQ(policy.After(kNone), policy.After(hours(1)));
}

TEST(PausePolicyTest, NoPauseBeforeTheFirstAnswer) {
  PausePolicy policy;
  policy.FollowBacklog(kLongest);
  for (int i = 0; i < 1000; ++i) policy.Sent();
  EXPECT_EQ(policy.After(kNone), kNone);
}

// Otherwise the first pods after a quiet time would meet the pauses of the last burst.
TEST(PausePolicyTest, ABurstDoesNotInheritTheAnswerTimesOfTheOneBefore) {
  PausePolicy policy = Sender(100, milliseconds(800));
  EXPECT_GT(policy.After(kNone), milliseconds(1));
  while (policy.InFlight() > 0) policy.Answered(milliseconds(800));
  for (int i = 0; i < 100; ++i) policy.Sent();
  EXPECT_EQ(policy.After(kNone), kNone);
  policy.Answered(milliseconds(2));
  EXPECT_EQ(policy.After(kNone), microseconds(100));
}

TEST(PausePolicyTest, AnswerTimesAreSmoothed) {
  PausePolicy policy = Sender(1000, milliseconds(100));
  policy.Answered(milliseconds(900));
  EXPECT_EQ(policy.After(kNone), milliseconds(10));  // of 200 ms
  for (int i = 0; i < 100; ++i) policy.Answered(milliseconds(40));
  EXPECT_LE(policy.After(kNone), microseconds(2100));
  EXPECT_GE(policy.After(kNone), microseconds(1900));
}

TEST(PausePolicyTest, NoPauseWhileOneAnswerHoldsUpEverything) {
  PausePolicy policy = Sender(1000, hours(1));
  policy.SetHurried(true);
  EXPECT_EQ(policy.After(milliseconds(10)), kNone);
  policy.SetHurried(false);
  EXPECT_EQ(policy.After(milliseconds(10)), kLongest);
}

TEST(PausePolicyTest, AnAnswerNobodySentForIsIgnored) {
  PausePolicy policy;
  policy.FollowBacklog(kLongest);
  policy.Answered(hours(1));
  EXPECT_EQ(policy.InFlight(), 0u);
}

TEST(PausePolicyTest, ServersPauseForAMillisecondAfterMuchWork) {
  PausePolicy policy;
  EXPECT_EQ(policy.After(kNone), kNone);
  EXPECT_EQ(policy.After(microseconds(100)), kNone);
  EXPECT_EQ(policy.After(microseconds(101)), PausePolicy::kServing);
  EXPECT_EQ(policy.After(hours(1)), PausePolicy::kServing);
  for (int i = 0; i < 1000; ++i) policy.Sent();
  EXPECT_EQ(policy.After(microseconds(50)), kNone) << "their own requests do not count";
}

}  // namespace
}  // namespace berth::net

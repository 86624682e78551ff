#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/loop.h"

namespace berth::net {
namespace {

using std::chrono::milliseconds;

TEST(SystemLoopTest, PostsOfAThreadKeepTheirOrder) {
  const auto loop = MakeSystemLoop();
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::vector<std::vector<int>> seen(kThreads);
  std::atomic<int> left = kThreads * kEach;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        loop->Post([&, t, i] {
          seen[t].push_back(i);
          if (--left == 0) loop->Stop();
        });
      }
    });
  }
  loop->Run();
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int>& numbers : seen) {
    ASSERT_EQ(numbers.size(), static_cast<size_t>(kEach));
    for (int i = 0; i < kEach; ++i) EXPECT_EQ(numbers[i], i);
  }
}

TEST(SystemLoopTest, TimersRunInTheOrderOfTheirTimes) {
  const auto loop = MakeSystemLoop();
  std::vector<int> ran;
  bool past_ran = false;
  Loop::TimerId cancelled = 0;
  loop->Post([&] {
    loop->After(milliseconds(30), [&] { ran.push_back(3); });
    loop->After(milliseconds(20), [&] { ran.push_back(2); });
    loop->After(milliseconds(10), [&] {
      ran.push_back(1);
      loop->Cancel(cancelled);
      loop->After(Nanoseconds(-5), [&] { past_ran = true; });
    });
    cancelled = loop->After(milliseconds(15), [&] { ran.push_back(99); });
    loop->After(Nanoseconds::max(), [&] { ran.push_back(98); });
    loop->Cancel(0);
    loop->Cancel(12345);
    loop->After(milliseconds(40), [&] { loop->After(Nanoseconds(0), [&] { loop->Stop(); }); });
  });
  loop->Run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(past_ran);
}

TEST(SystemLoopTest, TimersNeverRunEarly) {
  const auto loop = MakeSystemLoop();
  Nanoseconds start{0};
  loop->Post([&] {
    start = loop->Steady();
    loop->After(milliseconds(5), [&] { loop->Stop(); });
  });
  loop->Run();
  EXPECT_GE(loop->Steady() - start, milliseconds(5));
}

TEST(SystemLoopTest, ManyCancelledTimersLeaveTheOthersAlone) {
  const auto loop = MakeSystemLoop();
  int ran = 0;
  loop->Post([&] {
    std::vector<Loop::TimerId> ids;
    for (int i = 0; i < 1000; ++i) {
      ids.push_back(loop->After(milliseconds(5), [&] { ++ran; }));
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i % 10 != 0) loop->Cancel(ids[i]);
    }
    loop->After(milliseconds(5), [&] { loop->Stop(); });
  });
  loop->Run();
  EXPECT_EQ(ran, 100);
}

// Makes the loop pause for an hour after its round.
void FillBacklog(PausePolicy& pauses, size_t in_flight = PausePolicy::kManyInFlight) {
  pauses.FollowBacklog(std::chrono::hours(1));
  for (size_t i = 0; i <= in_flight; ++i) pauses.Sent();
  pauses.Answered(std::chrono::hours(1000));
}

// In a pause the loop runs what other threads post, one thing after the other, and leaves a timer
// alone that has long been due.
TEST(SystemLoopTest, OnlyWhatIsPostedIsRunInAPause) {
  const auto loop = MakeSystemLoop();
  std::thread other;
  bool timer_ran = false;
  int ran = 0;
  loop->Post([&] {
    FillBacklog(loop->Pauses());
    loop->After(milliseconds(10), [&] { timer_ran = true; });
    other = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(100));
      for (int i = 0; i < 3; ++i) {
        std::promise<void> done;
        loop->Post([&] {
          ++ran;
          loop->Post([&] { done.set_value(); });
        });
        done.get_future().wait();
      }
      loop->Stop();
    });
  });
  loop->Run();
  other.join();
  EXPECT_EQ(ran, 3);
  EXPECT_FALSE(timer_ran);
}

// A pause of an hour would run into the test's time limit, here and in the next test.
TEST(SystemLoopTest, AnOwnerInAHurryEndsThePause) {
  const auto loop = MakeSystemLoop();
  std::thread other;
  loop->Post([&] {
    FillBacklog(loop->Pauses());
    loop->After(milliseconds(1), [&] { loop->Stop(); });
    other = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(50));
      loop->Post([&] { loop->Pauses().SetHurried(true); });
    });
  });
  loop->Run();
  other.join();
}

TEST(SystemLoopTest, NoPauseWithFewRequestsInFlight) {
  const auto loop = MakeSystemLoop();
  loop->Post([&] {
    FillBacklog(loop->Pauses(), PausePolicy::kManyInFlight - 1);
    loop->After(milliseconds(1), [&] { loop->Stop(); });
  });
  loop->Run();
}

TEST(SystemLoopTest, WhatIsPutOffRunsOncePerRound) {
  const auto loop = MakeSystemLoop();
  std::vector<int> ran;
  std::function<void()> again = [&] {
    ran.push_back(static_cast<int>(ran.size()));
    if (ran.size() == 3) return loop->Stop();
    loop->NextRound(again);
    loop->Post([&, before = ran.size()] { EXPECT_EQ(ran.size(), before) << "in the same round"; });
  };
  loop->Post([&] { loop->NextRound(again); });
  loop->Run();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
}

TEST(SystemLoopTest, StopBeforeRunIsNotLost) {
  const auto loop = MakeSystemLoop();
  bool ran = false;
  loop->Post([&] { ran = true; });
  loop->Stop();
  loop->Run();
  EXPECT_FALSE(ran);
}

TEST(SystemLoopTest, RandomIsInRangeAndVaries) {
  const auto loop = MakeSystemLoop();
  const double first = loop->Random();
  bool varies = false;
  for (int i = 0; i < 100; ++i) {
    const double next = loop->Random();
    EXPECT_GE(next, 0.0);
    EXPECT_LT(next, 1.0);
    varies = varies || next != first;
  }
  EXPECT_TRUE(varies);
}

TEST(SystemLoopTest, NowIsTheWallClock) {
  const auto loop = MakeSystemLoop();
  const int64_t before = std::chrono::system_clock::now().time_since_epoch() / Nanoseconds(1);
  const int64_t now = loop->Now().UnixNano();
  const int64_t after = std::chrono::system_clock::now().time_since_epoch() / Nanoseconds(1);
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

}  // namespace
}  // namespace berth::net

#include "sim/host/event_loop.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

api::Time Start() { return api::Time::FromUnixNano(1'700'000'000 * kSecond); }

TEST(EventLoop, OrderIsTimeThenOrderOfAsking) {
  EventLoop loop(Start());
  std::string order;
  loop.After(2 * kSecond, [&] { order += 'd'; });
  loop.After(kSecond, [&] { order += 'b'; });
  loop.After(kSecond, [&] { order += 'c'; });
  loop.After(0, [&] { order += 'a'; });
  loop.RunUntil(kMinute);
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(loop.Now(), kMinute) << "time goes on after the last action";
}

TEST(EventLoop, AnActionMayAskForMore) {
  EventLoop loop(Start());
  int runs = 0;
  std::function<void()> again = [&] {
    if (++runs < 5) loop.After(kSecond, again);
  };
  loop.After(kSecond, again);
  loop.RunUntil(3 * kSecond);
  EXPECT_EQ(runs, 3) << "only what is not later than the limit";
  EXPECT_EQ(loop.Next(), 4 * kSecond);
}

TEST(EventLoop, APastTimeIsNow) {
  EventLoop loop(Start());
  loop.RunUntil(kMinute);
  Nanos seen = -1;
  loop.At(kSecond, [&] { seen = loop.Now(); });
  EXPECT_TRUE(loop.RunNext(kMinute));
  EXPECT_EQ(seen, kMinute);
}

TEST(EventLoop, ACancelledActionDoesNotRun) {
  EventLoop loop(Start());
  bool ran = false;
  const auto ticket = loop.After(kSecond, [&] { ran = true; });
  EXPECT_TRUE(loop.Cancel(ticket));
  EXPECT_FALSE(loop.Cancel(ticket));
  loop.RunUntil(kMinute);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(loop.Next().has_value());
}

TEST(EventLoop, TimesAreCountedFromTheStart) {
  EventLoop loop(Start());
  loop.RunUntil(1500 * kMillisecond);
  EXPECT_EQ(loop.Time().FormatNano(), "2023-11-14T22:13:21.5Z");
  EXPECT_EQ(loop.NanosOf(loop.Time()), 1500 * kMillisecond);
}

}  // namespace
}  // namespace berth::sim

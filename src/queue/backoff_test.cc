#include "queue/backoff.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Backoff, DoublesUpToTheMaximum) {
  const std::vector<std::pair<int64_t, int64_t>> cases = {{0, 0},  {1, 1},   {2, 2},    {4, 8},
                                                          {5, 10}, {64, 10}, {1000, 10}};
  for (const auto& [count, seconds] : cases) {
    EXPECT_EQ(BackoffDuration({}, count), seconds * kSecond) << count;
  }
  EXPECT_EQ(BackoffDuration({.initial_ns = 20 * kSecond}, 1), 10 * kSecond);
  EXPECT_EQ(BackoffDuration({.max_ns = INT64_MAX}, 34), kSecond << 33);
  EXPECT_EQ(BackoffDuration({.max_ns = INT64_MAX}, 35), INT64_MAX);
}

TEST(Backoff, Expires) {
  const api::Time since = api::Time::FromUnixNano(100 * kSecond + 600'000'000);
  const auto end = [&](const BackoffOptions& options, int64_t unschedulable, int64_t errors) {
    const auto time = BackoffExpiration(options, since, unschedulable, errors);
    return time ? time->UnixNano() : -1;
  };
  EXPECT_EQ(end({}, 0, 0), -1) << "no attempt yet";
  EXPECT_EQ(end({.max_ns = 0}, 3, 0), -1) << "turned off";
  EXPECT_EQ(end({}, 3, 0), 104 * kSecond) << "ends at a whole second";
  EXPECT_EQ(end({.align_to_second = false}, 3, 0), 104 * kSecond + 600'000'000)
      << "to the nanosecond";
  EXPECT_EQ(end({}, 3, 1), 101 * kSecond) << "errors count instead";
  EXPECT_EQ(end({.initial_ns = kSecond / 2, .align_to_second = false}, 1, 0),
            101 * kSecond + 100'000'000)
      << "carry";
}

}  // namespace
}  // namespace berth::queue

#include "queue/ticks.h"

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

api::Time Ms(int64_t ms) { return api::Time::FromUnixNano(ms * 1'000'000); }

TEST(TicksTest, TheFirstTickAfterATime) {
  struct Row {
    const char* what;
    int64_t origin, period_seconds, time, tick;  // milliseconds
  };
  const Row rows[] = {
      {"the origin is no tick", 5000, 1, 5000, 6000},
      {"a time before the origin", 5000, 30, -7000, 35000},
      {"between ticks", 5000, 1, 7100, 8000},
      {"on a tick: the next", 5000, 30, 35000, 65000},
      {"ticks share the fraction of the origin", 5250, 1, 7100, 7250},
      {"in the second of the origin, before its fraction", 5250, 1, 5100, 6250},
      {"on a tick with a fraction", 5250, 30, 35250, 65250},
      {"just before a tick with a fraction", 5250, 30, 35249, 35250},
      {"before 1970", -5750, 1, -3500, -2750},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(TickAfter(Ms(row.origin), row.period_seconds, Ms(row.time)), Ms(row.tick))
        << row.what;
  }
}

TEST(TicksTest, PlusNanosCarriesBothWays) {
  EXPECT_EQ(PlusNanos(Ms(1700), 400'000'000), Ms(2100));
  EXPECT_EQ(PlusNanos(Ms(1700), -800'000'000), Ms(900));
  EXPECT_EQ(PlusNanos(Ms(1700), 300'300'000'000), Ms(302000));
  EXPECT_EQ(PlusNanos(Ms(-300), 0), Ms(-300));
}

}  // namespace
}  // namespace berth::queue

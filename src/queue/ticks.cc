#include "queue/ticks.h"

#include <algorithm>

namespace berth::queue {

api::Time PlusNanos(const api::Time& time, int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  api::Time result = time;
  result.seconds += ns / kSecond;
  int64_t nanos = result.nanos + ns % kSecond;
  if (nanos >= kSecond) {
    nanos -= kSecond;
    ++result.seconds;
  } else if (nanos < 0) {
    nanos += kSecond;
    --result.seconds;
  }
  result.nanos = static_cast<int32_t>(nanos);
  return result;
}

api::Time TickAfter(const api::Time& origin, int64_t period_seconds, const api::Time& time) {
  int64_t whole = std::max<int64_t>(time.seconds - origin.seconds, 0);
  // Ticks share the origin's fraction: a time below it in its second is before that second's tick.
  if (whole > 0 && time.nanos < origin.nanos) --whole;
  api::Time tick = origin;
  tick.seconds += (whole / period_seconds + 1) * period_seconds;
  return tick;
}

}  // namespace berth::queue

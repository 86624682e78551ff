// Clocks that tick at a fixed pace from an origin.
#pragma once

#include <cstdint>

#include "api/time.h"

namespace berth::queue {

// `time` and `ns` nanoseconds, which may be negative.
api::Time PlusNanos(const api::Time& time, int64_t ns);

// The first tick after `time`, and after `origin`: ticks are at origin + k * period, k >= 1.
api::Time TickAfter(const api::Time& origin, int64_t period_seconds, const api::Time& time);

}  // namespace berth::queue

// How long a pod that could not be scheduled waits before the next attempt.
#pragma once

#include <cstdint>
#include <optional>

#include "api/time.h"

namespace berth::queue {

struct BackoffOptions {
  int64_t initial_ns = 1'000'000'000;  // Changes results. Doubled per attempt.
  int64_t max_ns = 10'000'000'000;     // Changes results. 0 turns backoff off.
  bool align_to_second =
      true;  // Changes results. SchedulerPopFromBackoffQ: ends at a whole second.
};

// The wait after `count` attempts: the initial one, doubled for each attempt after the first, at
// most the maximum.
int64_t BackoffDuration(const BackoffOptions& options, int64_t count);

// When the wait that began at `since` ends; empty if there is no wait. If attempts failed with an
// error, those count instead of attempts that found no node.
std::optional<api::Time> BackoffExpiration(const BackoffOptions& options, const api::Time& since,
                                           int64_t unschedulable_count,
                                           int64_t consecutive_errors_count);

}  // namespace berth::queue

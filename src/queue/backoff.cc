#include "queue/backoff.h"

#include <algorithm>

namespace berth::queue {

int64_t BackoffDuration(const BackoffOptions& options, int64_t count) {
  if (count <= 0) return 0;
  // Compared the other way round, so that doubling cannot overflow.
  const int64_t shift = std::min<int64_t>(count - 1, 63);
  if (options.initial_ns > options.max_ns >> shift) return options.max_ns;
  return static_cast<int64_t>(static_cast<uint64_t>(options.initial_ns) << shift);
}

std::optional<api::Time> BackoffExpiration(const BackoffOptions& options, const api::Time& since,
                                           int64_t unschedulable_count,
                                           int64_t consecutive_errors_count) {
  if (options.max_ns == 0) return std::nullopt;
  const int64_t count =
      consecutive_errors_count > 0 ? consecutive_errors_count : unschedulable_count;
  if (count == 0) return std::nullopt;
  const int64_t wait = BackoffDuration(options, count);
  api::Time end = since;
  end.seconds += wait / 1'000'000'000;
  end.nanos += static_cast<int32_t>(wait % 1'000'000'000);
  if (end.nanos >= 1'000'000'000) {
    end.nanos -= 1'000'000'000;
    ++end.seconds;
  }
  if (options.align_to_second) end.nanos = 0;
  return end;
}

}  // namespace berth::queue

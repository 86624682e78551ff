#include "queue/slot.h"

#include <algorithm>

#include "queue/ticks.h"

namespace berth::queue {

std::string_view NameOf(QueueName queue) {
  switch (queue) {
    case QueueName::kActive:
      return "active";
    case QueueName::kBackoff:
      return "backoff";
    case QueueName::kUnschedulable:
      return "unschedulable";
    case QueueName::kGated:
      return "gated";
  }
  return "";
}

std::string_view WordOf(Place place) {
  switch (place) {
    case Place::kNowhere:
      return "";
    case Place::kActive:
      return "active";
    case Place::kBackoff:
      return "backoff";
    case Place::kErrorBackoff:
      return "error-backoff";
    case Place::kUnschedulable:
      return "unschedulable";
    case Place::kGated:
      return "gated";
    case Place::kInFlight:
      return "in-flight";
  }
  return "";
}

api::Time BackoffTick(const QueueOptions& options, const api::Time& first, const api::Time& until) {
  constexpr int64_t kPeriodSeconds = 1;
  api::Time origin = first;
  if (options.backoff.align_to_second) origin.nanos = 0;
  return TickAfter(origin, kPeriodSeconds, until);
}

api::Time LeftoverTick(const QueueOptions& options, const api::Time& first, const QueuedPod& pod,
                       const api::Time& at) {
  constexpr int64_t kPeriodSeconds = 30;
  api::Time since = pod.timestamp;
  if (options.flush_counts_from_last_flush && pod.flushed) since = std::max(since, *pod.flushed);
  const api::Time old_at = PlusNanos(since, options.max_in_unschedulable_ns);
  return TickAfter(first, kPeriodSeconds, std::max(old_at, at));
}

}  // namespace berth::queue

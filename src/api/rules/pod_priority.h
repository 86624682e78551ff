// Orders among pods: by priority, then by time.
#pragma once

#include <cstdint>

#include "api/core/pod.h"
#include "api/time.h"

namespace berth::api {

// 0 if the pod has none.
inline int32_t PodPriority(const Pod& pod) { return pod.spec.priority.value_or(0); }

// Preemption spares `a` rather than `b`: higher priority, then longer running. A pod that has not
// started yet starts `now`.
inline bool MoreImportantPod(const Pod& a, const Pod& b, const Time& now) {
  if (PodPriority(a) != PodPriority(b)) return PodPriority(a) > PodPriority(b);
  return a.status.start_time.value_or(now) < b.status.start_time.value_or(now);
}

// PrioritySort's order of the scheduling queue: higher priority first, then longer waiting time.
inline bool QueueLess(int32_t a_priority, const Instant& a_since, int32_t b_priority,
                      const Instant& b_since) {
  return a_priority != b_priority ? a_priority > b_priority : a_since < b_since;
}

}  // namespace berth::api

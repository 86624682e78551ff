// Requeue: what an event means for a pod that was rejected.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/function_ref.h"
#include "queue/cluster_event.h"

namespace berth::queue {

enum class Requeue : uint8_t {
  kSkip,          // it stays where it is
  kAfterBackoff,  // it is retried when its backoff is over
  kImmediately,   // it is retried without backoff
};

// Which plugins rejected the pod, as bits of plugin numbers.
struct Rejection {
  uint64_t unschedulable = 0;
  uint64_t pending = 0;  // they wait for an external condition, and need no backoff after it
};

// `registered`: the plugins that registered for the event. `may_help(number)` calls the hint of one
// of them, only while the result matters. For events without an object the new object counts: a pod
// there means that the event concerns that pod alone.
Requeue DecideRequeue(const Rejection& rejected_by, std::string_view pod_uid, const Event& event,
                      uint64_t registered, FunctionRef<bool(uint8_t)> may_help);

}  // namespace berth::queue

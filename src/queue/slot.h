// Slot: a pod of the scheduling queue, its place, and the orders of the places.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "api/time.h"
#include "queue/scheduling_queue.h"

namespace berth::queue {

enum class Place : uint8_t {
  kNowhere,
  kActive,
  kBackoff,
  kErrorBackoff,
  kUnschedulable,
  kGated,
  kInFlight,
};

// The names that WhereIs returns.
std::string_view WordOf(Place place);

struct Slot {
  QueuedPod info;
  Place place = Place::kNowhere;
  bool deleted = false;  // deleted while in flight
  uint64_t order = 0;    // order of arrival at the place; breaks ties
  api::Time until;       // backoff: its end. Unschedulable: the tick of the retry without an event
};

using Slots = std::deque<Slot>;  // slots do not move in memory

// Does `a` come before `b` in active? Ties are broken by order of arrival.
inline bool LessOrEarlier(const QueueHost& host, const Slot& a, const Slot& b) {
  return a.order < b.order ? !host.Less(b.info, a.info) : host.Less(a.info, b.info);
}

struct ActiveOrder {
  const QueueHost* host;
  const Slots* slots;
  bool operator()(uint32_t a, uint32_t b) const {
    return LessOrEarlier(*host, (*slots)[a], (*slots)[b]);
  }
};

// Ordered by the end of the wait.
struct BackoffOrder {
  const QueueHost* host;
  const Slots* slots;
  bool by_less;  // slots that end in the same window are ordered as in active
  bool operator()(uint32_t left, uint32_t right) const {
    const Slot& a = (*slots)[left];
    const Slot& b = (*slots)[right];
    if (a.until != b.until) return a.until < b.until;
    return by_less ? LessOrEarlier(*host, a, b) : a.order < b.order;
  }
};

// The tick at which a backoff that ends at `until` is seen to be over. `first`: when the queue was
// first called.
api::Time BackoffTick(const QueueOptions& options, const api::Time& first, const api::Time& until);
// The tick after `at` at which a parked pod is retried without an event.
api::Time LeftoverTick(const QueueOptions& options, const api::Time& first, const QueuedPod& pod,
                       const api::Time& at);

}  // namespace berth::queue

// Slot: a pod of the scheduling queue, the place it is in, and the orders the places keep.
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

// As WhereIs says it.
std::string_view WordOf(Place place);

struct Slot {
  QueuedPod info;
  Place place = Place::kNowhere;
  bool deleted = false;  // gone while it was in flight
  uint64_t order = 0;    // of its coming to the place: who ties goes in this order
  api::Time until;       // backoff: its end. Unschedulable: the tick that tries it unasked
};

using Slots = std::deque<Slot>;  // a slot stays where it is in memory

// Does `a` go before `b` in active? Who ties goes in the order of coming.
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

// By when the wait ends.
struct BackoffOrder {
  const QueueHost* host;
  const Slots* slots;
  bool by_less;  // who ends in the same window goes as in active
  bool operator()(uint32_t left, uint32_t right) const {
    const Slot& a = (*slots)[left];
    const Slot& b = (*slots)[right];
    if (a.until != b.until) return a.until < b.until;
    return by_less ? LessOrEarlier(*host, a, b) : a.order < b.order;
  }
};

}  // namespace berth::queue

// InFlight: the pods that are being scheduled, and the events since the oldest of them was popped.
//
// Events are kept once, in order, however many pods are in flight; each pod remembers where in that
// order it began. An event is dropped once no pod that began before it is left, so memory is
// bounded by the events of the longest attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/ids.h"
#include "queue/cluster_event.h"

namespace berth::queue {

struct InFlightEvent {
  Event event;
  cluster::PodId only = cluster::kNoPod;  // the only pod it concerns, if any
};

class InFlight {
 public:
  size_t PodCount() const { return first_event_.size(); }
  size_t EventCount() const { return events_.size(); }

  // `slot` is in flight from here on; it was not.
  void Begin(uint32_t slot) {
    const uint64_t next = first_number_ + events_.size();
    first_event_.emplace(slot, next);
    begun_.emplace(next, slot);
  }
  // `slot` is no longer in flight.
  void End(uint32_t slot) {
    const auto it = first_event_.find(slot);
    if (it == first_event_.end()) return;
    begun_.erase({it->second, slot});
    first_event_.erase(it);
    const uint64_t needed_from =
        begun_.empty() ? first_number_ + events_.size() : begun_.begin()->first;
    for (; first_number_ < needed_from; ++first_number_) events_.pop_front();
  }
  // Keeps the event if there is a pod it may matter to.
  void Record(InFlightEvent event) {
    if (!first_event_.empty()) events_.push_back(std::move(event));
  }
  // Calls fn(event) for each event since `slot` began, until fn returns false.
  template <class Fn>
  void ForEachSince(uint32_t slot, Fn&& fn) const {
    const auto it = first_event_.find(slot);
    if (it == first_event_.end()) return;
    for (size_t i = it->second - first_number_; i < events_.size(); ++i) {
      if (!fn(events_[i])) return;
    }
  }

  // Calls fn(event) for all that are kept.
  template <class Fn>
  void ForEach(Fn&& fn) const {
    for (const InFlightEvent& event : events_) fn(event);
  }

 private:
  std::deque<InFlightEvent> events_;
  uint64_t first_number_ = 0;  // of events_.front(), counted from the beginning of time
  boost::unordered_flat_map<uint32_t, uint64_t> first_event_;  // by slot
  std::set<std::pair<uint64_t, uint32_t>> begun_;              // the same, oldest first
};

}  // namespace berth::queue

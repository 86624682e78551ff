// EventSeries: which events.k8s.io/v1 events are the same thing again.
//
// Equal are events of the same type, action, reason, reporter, regarding and related object,
// versions of the objects included; the note counts only where the event says so. Nearly all are
// seen once: of those only what the key does not say is kept. Bounded: the oldest are forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/events/event.h"
#include "base/string_hash.h"
#include "scheduler/effects.h"

namespace berth::kube {

class EventSeriesCache {
 public:
  static constexpr size_t kMaxEntries = 20'000;
  using Id = uint64_t;  // grows; never used twice

  struct Entry {
    std::string key;
    std::string name;
    std::string note;
    api::MicroTime time;
    std::unique_ptr<api::Event> series;  // whole, from the second occurrence on
    bool writing = false;                // a request about it is under way
    bool changed = false;                // and became a series since
  };

  static std::string KeyOf(const scheduler::RecordEvent& event, std::string_view instance);

  // 0: unknown, or forgotten.
  Id Find(std::string_view key) const;
  // Null: forgotten.
  Entry* Get(Id id);
  // REQUIRES: the key is unknown. The first occurrence; stays where it is until it is forgotten.
  Id Add(std::string key, std::string name, std::string note, const api::MicroTime& time);
  // The second one. `same` is equal to the first, which gives name, note and time.
  static void BeginSeries(Entry& entry, api::Event same, const api::MicroTime& seen);
  void Remove(Id id);
  // In the order they were added.
  std::vector<Id> Ids() const;
  size_t Size() const { return entries_.size(); }

 private:
  void ForgetOldest();

  boost::unordered_flat_map<Id, std::unique_ptr<Entry>> entries_;
  std::deque<Id> order_;  // as they were added; those removed meanwhile are in it for a while
  ByStringView<Id> ids_;  // by the keys in entries_
  Id last_ = 0;
};

}  // namespace berth::kube

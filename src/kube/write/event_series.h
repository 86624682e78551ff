// EventSeries: which events.k8s.io/v1 events are the same thing again.
//
// Equal are events of the same type, action, reason, reporter, regarding and related object,
// versions of the objects included; the note does not count. Bounded: the oldest are forgotten.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/events/event.h"

namespace berth::kube {

class EventSeriesCache {
 public:
  static constexpr size_t kMaxEntries = 20'000;

  struct Entry {
    api::Event event;
    bool writing = false;  // a request about it is under way
    bool changed = false;  // and became a series since
  };

  static std::string KeyOf(const api::Event& event);

  // Null: unknown, or forgotten.
  Entry* Find(std::string_view key);
  // REQUIRES: the key is unknown. Stays where it is until it is forgotten.
  Entry& Add(std::string key, api::Event event);
  void Remove(std::string_view key);
  // In the order they were added.
  std::vector<std::string> Keys();
  size_t Size() const { return entries_.size(); }

 private:
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> order_;  // may hold keys that were removed
};

}  // namespace berth::kube

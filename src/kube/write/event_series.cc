#include "kube/write/event_series.h"

#include <utility>

namespace berth::kube {

namespace {

constexpr size_t kKeyRoom = 160;  // of most
// So many are let stand in the order before it is cleared of them.
constexpr size_t kFewRemoved = 64;

void Append(std::string& key, std::string_view part) {
  key += part;
  key += '\0';
}

void Append(std::string& key, const scheduler::PodRef& pod) {
  Append(key, pod.namespace_);
  Append(key, pod.name);
  Append(key, pod.uid);
  Append(key, pod.resource_version);
}

}  // namespace

std::string EventSeriesCache::KeyOf(const scheduler::RecordEvent& event,
                                    std::string_view instance) {
  std::string key;
  key.reserve(kKeyRoom);
  Append(key, event.type);
  Append(key, event.action);
  Append(key, event.reason);
  Append(key, event.reporting_controller);
  Append(key, instance);
  Append(key, event.regarding);
  if (event.related) Append(key, *event.related);
  if (event.note_counts) Append(key, event.note);
  return key;
}

EventSeriesCache::Id EventSeriesCache::Find(std::string_view key) const {
  const auto it = ids_.find(key);
  return it != ids_.end() ? it->second : 0;
}

EventSeriesCache::Entry* EventSeriesCache::Get(Id id) {
  const auto it = entries_.find(id);
  return it != entries_.end() ? it->second.get() : nullptr;
}

EventSeriesCache::Id EventSeriesCache::Add(std::string key, std::string name, std::string note,
                                           const api::MicroTime& time) {
  while (entries_.size() >= kMaxEntries) ForgetOldest();
  Entry& entry = *entries_.emplace(++last_, std::make_unique<Entry>()).first->second;
  order_.push_back(last_);
  entry.key = std::move(key);
  entry.name = std::move(name);
  entry.note = std::move(note);
  entry.time = time;
  ids_.emplace(entry.key, last_);
  return last_;
}

void EventSeriesCache::BeginSeries(Entry& entry, api::Event same, const api::MicroTime& seen) {
  entry.series = std::make_unique<api::Event>(std::move(same));
  entry.series->metadata.name = entry.name;
  entry.series->note = entry.note;
  entry.series->event_time = entry.time;
  entry.series->series = api::EventSeries{2, seen};
}

void EventSeriesCache::Remove(Id id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  ids_.erase(std::string_view(it->second->key));
  entries_.erase(it);
  if (order_.size() > kFewRemoved + 2 * entries_.size()) {
    std::erase_if(order_, [this](Id known) { return !entries_.contains(known); });
  }
}

void EventSeriesCache::ForgetOldest() {
  const Id oldest = order_.front();
  order_.pop_front();
  Remove(oldest);
}

std::vector<EventSeriesCache::Id> EventSeriesCache::Ids() const {
  std::vector<Id> ids;
  ids.reserve(entries_.size());
  for (const Id id : order_) {
    if (entries_.contains(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace berth::kube

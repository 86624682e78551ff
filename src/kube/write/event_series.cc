#include "kube/write/event_series.h"

#include <utility>

namespace berth::kube {

namespace {

constexpr size_t kKeyRoom = 160;  // of most

void Append(std::string& key, std::string_view part) {
  key += part;
  key += '\0';
}

void Append(std::string& key, const api::ObjectReference& object) {
  for (std::string_view part :
       {std::string_view(object.kind), std::string_view(object.namespace_),
        std::string_view(object.name), std::string_view(object.uid),
        std::string_view(object.api_version), std::string_view(object.resource_version),
        std::string_view(object.field_path)}) {
    Append(key, part);
  }
}

}  // namespace

std::string EventSeriesCache::KeyOf(const api::Event& event) {
  std::string key;
  key.reserve(kKeyRoom);
  Append(key, event.type);
  Append(key, event.action);
  Append(key, event.reason);
  Append(key, event.reporting_controller);
  Append(key, event.reporting_instance);
  Append(key, event.regarding);
  if (event.related) Append(key, *event.related);
  return key;
}

EventSeriesCache::Id EventSeriesCache::Find(std::string_view key) const {
  const auto it = ids_.find(key);
  return it != ids_.end() ? it->second : 0;
}

EventSeriesCache::Entry* EventSeriesCache::Get(Id id) {
  const auto it = entries_.find(id);
  return it != entries_.end() ? &it->second : nullptr;
}

EventSeriesCache::Id EventSeriesCache::Add(std::string key, const api::Event& event) {
  while (entries_.size() >= kMaxEntries) Remove(entries_.begin()->first);
  Entry& entry = entries_.emplace_hint(entries_.end(), ++last_, Entry{})->second;
  entry.key = std::move(key);
  entry.name = event.metadata.name;
  entry.note = event.note;
  entry.time = event.event_time;
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
  ids_.erase(std::string_view(it->second.key));
  entries_.erase(it);
}

std::vector<EventSeriesCache::Id> EventSeriesCache::Ids() const {
  std::vector<Id> ids;
  ids.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  return ids;
}

}  // namespace berth::kube

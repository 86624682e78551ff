#include "kube/write/event_series.h"

#include <utility>

namespace berth::kube {

namespace {

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
  Append(key, event.type);
  Append(key, event.action);
  Append(key, event.reason);
  Append(key, event.reporting_controller);
  Append(key, event.reporting_instance);
  Append(key, event.regarding);
  if (event.related) Append(key, *event.related);
  return key;
}

EventSeriesCache::Entry* EventSeriesCache::Find(std::string_view key) {
  const auto it = entries_.find(std::string(key));
  return it != entries_.end() ? &it->second : nullptr;
}

EventSeriesCache::Entry& EventSeriesCache::Add(std::string key, api::Event event) {
  while (entries_.size() >= kMaxEntries && !order_.empty()) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  Entry& entry = entries_[std::move(key)];
  entry.event = std::move(event);
  return entry;
}

void EventSeriesCache::Remove(std::string_view key) { entries_.erase(std::string(key)); }

std::vector<std::string> EventSeriesCache::Keys() {
  std::erase_if(order_, [&](const std::string& key) { return !entries_.contains(key); });
  return {order_.begin(), order_.end()};
}

}  // namespace berth::kube

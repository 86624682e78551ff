#include "apiserver/store/store.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace berth::apiserver {

Store::Store(const Catalog& catalog, StoreOptions options) : catalog_(catalog), options_(options) {}

Store::Table& Store::At(uint32_t storage_id) {
  if (storage_id >= tables_.size()) tables_.resize(storage_id + 1);
  if (!tables_[storage_id]) tables_[storage_id] = std::make_unique<Table>();
  return *tables_[storage_id];
}

void Store::Restore(uint32_t storage_id, const Json& object) {
  const std::string_view text = object["metadata"]["resourceVersion"].Str();
  uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  ObjectPtr stored = MakeStoredObject(catalog_.At(storage_id), object, version);
  std::string key = ObjectKey(stored->namespace_, stored->name);
  Place(At(storage_id), std::move(key)) = std::move(stored);
}

ObjectPtr& Store::Place(Table& table, std::string key) {
  if (const auto it = table.places.find(key); it != table.places.end()) return *it->second;
  const auto it = table.objects.emplace(std::move(key), nullptr).first;
  table.places.emplace(it->first, &it->second);
  return it->second;
}

void Store::RestoreVersion(uint64_t version) {
  version_ = durable_ = published_ = std::max(version_, version);
  floor_ = version_;
}

ObjectPtr Store::Get(uint32_t storage_id, std::string_view namespace_,
                     std::string_view name) const {
  if (storage_id >= tables_.size() || !tables_[storage_id]) return nullptr;
  const auto& places = tables_[storage_id]->places;
  const auto it = places.find(ObjectKey(namespace_, name));
  return it == places.end() ? nullptr : *it->second;
}

const Store::Objects& Store::All(uint32_t storage_id) const {
  static const Objects kNone;
  if (storage_id >= tables_.size() || !tables_[storage_id]) return kNone;
  return tables_[storage_id]->objects;
}

std::pair<Store::Objects::const_iterator, Store::Objects::const_iterator> Store::Range(
    uint32_t storage_id, std::string_view namespace_) const {
  const Objects& objects = All(storage_id);
  if (namespace_.empty()) return {objects.begin(), objects.end()};
  const std::string first = fmt::format("{}/", namespace_);
  const std::string last = fmt::format("{}{}", namespace_, static_cast<char>('/' + 1));
  return {objects.lower_bound(first), objects.lower_bound(last)};
}

ObjectPtr Store::Put(uint32_t storage_id, Json object) {
  const uint64_t version = ++version_;
  object.At("metadata").Set("resourceVersion", std::to_string(version));
  return Keep(storage_id, MakeStoredObject(catalog_.At(storage_id), object, version));
}

ObjectPtr Store::Derive(uint32_t storage_id, const StoredObject& from, std::vector<Edit> edits) {
  const uint64_t version = ++version_;
  edits.push_back({"metadata.resourceVersion", std::to_string(version)});
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.path < b.path; });
  return Keep(storage_id, DeriveStoredObject(catalog_.At(storage_id), from, edits, version));
}

ObjectPtr Store::Keep(uint32_t storage_id, ObjectPtr stored) {
  ObjectPtr& place = Place(At(storage_id), ObjectKey(stored->namespace_, stored->name));
  Change change{place ? ChangeType::kModified : ChangeType::kAdded, storage_id, stored->version,
                stored, std::move(place)};
  place = stored;
  Record(std::move(change));
  return stored;
}

ObjectPtr Store::Remove(uint32_t storage_id, std::string_view namespace_, std::string_view name) {
  Table& table = At(storage_id);
  const auto it = table.objects.find(ObjectKey(namespace_, name));
  if (it == table.objects.end()) return nullptr;
  const ObjectPtr previous = std::move(it->second);
  table.places.erase(it->first);
  table.objects.erase(it);
  const uint64_t version = ++version_;
  Json object = previous->Value();
  object.At("metadata").Set("resourceVersion", std::to_string(version));
  ObjectPtr last = MakeStoredObject(catalog_.At(storage_id), object, version);
  Record({ChangeType::kDeleted, storage_id, version, last, previous});
  return last;
}

void Store::Record(Change change) {
  if (journal_) {
    const Resource& resource = catalog_.At(change.storage_id);
    journal_->Append({fmt::format("{}/{}", resource.group, resource.plural),
                      ObjectKey(change.object->namespace_, change.object->name),
                      change.type == ChangeType::kDeleted ? "" : change.object->text,
                      change.version});
  } else {
    durable_ = change.version;
  }
  unpublished_.push_back(std::move(change));
  Publish();
}

void Store::Durable(uint64_t version) {
  durable_ = std::max(durable_, version);
  Publish();
  while (!waiting_.empty() && waiting_.front().first <= durable_) {
    const auto task = std::move(waiting_.front().second);
    waiting_.pop_front();
    task();
  }
}

void Store::WhenDurable(uint64_t version, std::function<void()> task) {
  if (version <= durable_ && waiting_.empty()) {
    task();
  } else {
    // Tasks of versions that are durable already wait for those before them: order is kept.
    waiting_.emplace_back(std::max(version, waiting_.empty() ? 0 : waiting_.back().first),
                          std::move(task));
  }
}

void Store::Publish() {
  if (publishing_) return;
  publishing_ = true;
  while (!unpublished_.empty() && unpublished_.front().version <= durable_) {
    const Change change = std::move(unpublished_.front());
    unpublished_.pop_front();
    Table& table = At(change.storage_id);
    table.log.push_back(change);
    if (table.log.size() > options_.max_history) {
      table.forgotten = table.log.front().version;
      table.log.pop_front();
    }
    published_ = change.version;
    Tell(table, change);
  }
  publishing_ = false;
}

void Store::Tell(Table& table, const Change& change) {
  // Watchers that come while this one is told begin after it: they are not in these copies.
  for (const auto* list : {&table.subscribers, &everything_}) {
    const std::vector<std::shared_ptr<Subscriber>> told = *list;
    for (const auto& subscriber : told) {
      if (subscriber->id != 0 && subscriber->after < change.version) subscriber->watcher(change);
    }
  }
}

Answer<Store::WatchId> Store::Watch(uint32_t storage_id, uint64_t after, Watcher watcher) {
  Table& table = At(storage_id);
  if (after < std::max(table.forgotten, floor_)) {
    return Refuse(Expired(fmt::format("too old resource version: {} ({})", after, version_)));
  }
  const auto subscriber =
      std::make_shared<Subscriber>(Subscriber{next_watch_++, after, std::move(watcher)});
  const WatchId id = subscriber->id;
  table.subscribers.push_back(subscriber);
  const auto first = std::upper_bound(
      table.log.begin(), table.log.end(), after,
      [](uint64_t version, const Change& change) { return version < change.version; });
  const std::vector<Change> past(first, table.log.end());
  for (const Change& change : past) {
    if (subscriber->id == 0) break;
    subscriber->watcher(change);
  }
  return id;
}

Store::WatchId Store::WatchAll(Watcher watcher) {
  everything_.push_back(
      std::make_shared<Subscriber>(Subscriber{next_watch_++, 0, std::move(watcher)}));
  return everything_.back()->id;
}

void Store::Unwatch(WatchId id) {
  const auto end = [id](std::vector<std::shared_ptr<Subscriber>>& subscribers) {
    const auto it = std::find_if(subscribers.begin(), subscribers.end(),
                                 [id](const auto& subscriber) { return subscriber->id == id; });
    if (it == subscribers.end()) return false;
    (*it)->id = 0;
    subscribers.erase(it);
    return true;
  };
  for (auto& table : tables_) {
    if (table && end(table->subscribers)) return;
  }
  end(everything_);
}

}  // namespace berth::apiserver

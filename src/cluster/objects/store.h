// Store: the objects of one kind by namespace and name, with a log of changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/table/change_log.h"

namespace berth::cluster {

// Objects of one kind. Iteration is in order of first arrival, so that runs with equal inputs do
// equal things.
template <class T>
class Store {
 public:
  // What takes back changes, in order.
  using Log = std::vector<std::function<void()>>;

  void Set(std::shared_ptr<const T> object) {
    const std::string key = Key(object->metadata.namespace_, object->metadata.name);
    const auto [it, inserted] = index_.try_emplace(key, objects_.size());
    changes_.Note(key, index_.size());
    if (log_.to != nullptr) LogSet(key, inserted ? nullptr : objects_[it->second]);
    if (inserted) {
      objects_.push_back(std::move(object));
    } else {
      objects_[it->second] = std::move(object);
    }
  }
  void Set(T object) { Set(std::make_shared<const T>(std::move(object))); }

  // False when it was not there.
  bool Remove(std::string_view namespace_, std::string_view name) {
    const auto it = index_.find(Key(namespace_, name));
    if (it == index_.end()) return false;
    changes_.Note(it->first, index_.size());
    std::shared_ptr<const T> old = std::exchange(objects_[it->second], nullptr);
    if (log_.to != nullptr) LogRemove(it->first, it->second, std::move(old));
    index_.erase(it);
    // The log refers to positions.
    const bool may_move = log_.to == nullptr;
    if (may_move && objects_.size() > 32 && index_.size() < objects_.size() / 2) Compact();
    return true;
  }

  // Changes are appended to `log` from now on. Null: to none.
  void set_log(Log* log) { log_.to = log; }

  // Null when there is none. Cluster-scoped objects have an empty namespace.
  const T* Find(std::string_view namespace_, std::string_view name) const {
    const auto it = index_.find(Key(namespace_, name));
    return it == index_.end() ? nullptr : objects_[it->second].get();
  }
  const T* Find(std::string_view name) const { return Find({}, name); }
  // The same, to keep after the object has been replaced.
  std::shared_ptr<const T> Share(std::string_view namespace_, std::string_view name) const {
    const auto it = index_.find(Key(namespace_, name));
    return it == index_.end() ? nullptr : objects_[it->second];
  }

  // Calls f(const T&) for every object, in order of first arrival.
  template <class F>
  void ForEach(F&& f) const {
    for (const auto& object : objects_) {
      if (object) f(*object);
    }
  }
  size_t Size() const { return index_.size(); }
  // Changes with every Set and Remove.
  uint64_t Generation() const { return changes_.Generation(); }
  // The objects set or removed, by "namespace/name". A pointer to an object is good until then.
  const ChangeLog<std::string>& Changes() const { return changes_; }
  // By "namespace/name", as Changes() tells it.
  const T* FindKey(const std::string& key) const {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : objects_[it->second].get();
  }
  std::shared_ptr<const T> ShareKey(const std::string& key) const {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : objects_[it->second];
  }

 private:
  // A copy of a store has no log.
  struct LogPointer {
    LogPointer() = default;
    LogPointer(const LogPointer&) {}
    LogPointer& operator=(const LogPointer&) { return *this; }
    ~LogPointer() = default;
    Log* to = nullptr;
  };

  // `old` is null when the object is new.
  void LogSet(const std::string& key, std::shared_ptr<const T> old) {
    log_.to->push_back([this, key, old = std::move(old)] {
      changes_.Note(key, index_.size());
      const auto it = index_.find(key);
      if (old != nullptr) {
        objects_[it->second] = old;
        return;
      }
      index_.erase(it);
      objects_.pop_back();
    });
  }
  void LogRemove(const std::string& key, size_t position, std::shared_ptr<const T> old) {
    log_.to->push_back([this, key, position, old = std::move(old)] {
      changes_.Note(key, index_.size());
      index_.emplace(key, position);
      objects_[position] = old;
    });
  }

  static std::string Key(std::string_view namespace_, std::string_view name) {
    std::string key(namespace_);
    key += '/';
    key += name;
    return key;
  }

  void Compact() {
    std::erase(objects_, nullptr);
    for (size_t i = 0; i < objects_.size(); ++i) {
      index_[Key(objects_[i]->metadata.namespace_, objects_[i]->metadata.name)] = i;
    }
  }

  std::vector<std::shared_ptr<const T>> objects_;  // null where an object was removed
  boost::unordered_flat_map<std::string, size_t> index_;
  ChangeLog<std::string> changes_;
  LogPointer log_;
};

}  // namespace berth::cluster

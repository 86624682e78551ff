// LruMap: a bounded map by text; when it is full, what was not used for longest goes.
#pragma once

#include <list>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace berth::kube {

template <class T>
class LruMap {
 public:
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // The value of `key`, a new one if there is none; valid until the next call. The bool: it is new.
  std::pair<T&, bool> Get(const std::string& key) {
    if (auto it = places_.find(key); it != places_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      return {entries_.front().second, false};
    }
    if (entries_.size() >= capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, T{});
    places_.emplace(key, entries_.begin());
    return {entries_.front().second, true};
  }
  size_t Size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, T>>;

  size_t capacity_;
  Entries entries_;  // the last used first
  boost::unordered_flat_map<std::string, typename Entries::iterator> places_;
};

}  // namespace berth::kube

// SeriesCache: from label values to a series, without the family's lock.
#pragma once

#include <string>
#include <string_view>

#include "base/string_hash.h"
#include "server/metrics/registry.h"

namespace berth::server {

// Label values, in the order of the family's labels, to a series; queries the family once per
// combination. Not thread-safe.
template <class T>
class SeriesCache {
 public:
  explicit SeriesCache(FamilyOf<T>& family) : family_(family) {}

  T& Of(LabelValues values) {
    if (last_ != nullptr && IsLast(values)) return *last_;
    key_.clear();
    for (const std::string_view value : values) {
      key_ += value;
      key_ += '\0';
    }
    const auto it = known_.find(key_);
    last_ = it != known_.end() ? it->second : family_.With(values);
    if (it == known_.end()) known_.emplace(key_, last_);
    return *last_;
  }
  // Calls fn(series) for every combination looked up so far.
  template <class Fn>
  void ForEach(Fn&& fn) {
    for (auto& [key, series] : known_) fn(*series);
  }

 private:
  // Mostly the same combination is looked up again.
  bool IsLast(LabelValues values) const {
    std::string_view rest = key_;
    for (const std::string_view value : values) {
      if (rest.size() <= value.size() || rest[value.size()] != '\0') return false;
      if (rest.substr(0, value.size()) != value) return false;
      rest.remove_prefix(value.size() + 1);
    }
    return rest.empty();
  }

  FamilyOf<T>& family_;
  std::string key_;    // of last_
  T* last_ = nullptr;  // the last lookup
  ByString<T*> known_;
};

}  // namespace berth::server

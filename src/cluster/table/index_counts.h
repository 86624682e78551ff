// IndexCounts: a count per small integer (a row of the node table, a topology domain), where most
// counts are zero.
//
// Few entries are a sorted list, many a hash map, and once a good part of all indices has a count,
// a plain array. So memory follows what is counted, and what is counted everywhere is read as fast
// as a column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/check.h"

namespace berth::cluster {

class IndexCounts {
 public:
  // Adds `delta` to the count of `index`. `universe` is how many indices there are at the moment.
  void Add(uint32_t index, int32_t delta, size_t universe) {
    if (delta == 0) return;
    if (!dense_.empty()) {
      AddDense(index, delta, universe);
    } else if (map_ != nullptr) {
      AddToMap(index, delta, universe);
    } else {
      AddToList(index, delta, universe);
    }
  }

  int32_t Get(uint32_t index) const {
    if (!dense_.empty()) return index < dense_.size() ? dense_[index] : 0;
    if (map_ != nullptr) {
      const auto it = map_->find(index);
      return it == map_->end() ? 0 : it->second;
    }
    const auto it = Find(index);
    return it != list_.end() && it->first == index ? it->second : 0;
  }

  // Calls f(index, count) for every count that is not zero, in no particular order.
  template <class F>
  void ForEach(F&& f) const {
    for (uint32_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i] != 0) f(i, dense_[i]);
    }
    if (map_ != nullptr) {
      for (const auto& [index, count] : *map_) f(index, count);
    }
    for (const auto& [index, count] : list_) f(index, count);
  }

  // How many counts are not zero.
  size_t NonZero() const {
    if (!dense_.empty()) return dense_nonzero_;
    return map_ != nullptr ? map_->size() : list_.size();
  }
  bool IsDense() const { return !dense_.empty(); }
  // All counts by index; indices beyond the end have none. REQUIRES: IsDense().
  std::span<const int32_t> Dense() const {
    BERTH_DCHECK(IsDense());
    return dense_;
  }
  // The same, with at least `size` entries.
  std::span<const int32_t> Dense(size_t size) {
    if (dense_.size() < size) dense_.resize(size);
    return dense_;
  }

  void Clear() {
    list_.clear();
    map_.reset();
    dense_ = std::vector<int32_t>();
    dense_nonzero_ = 0;
  }

 private:
  using Entry = std::pair<uint32_t, int32_t>;
  static constexpr size_t kListEntries = 64;
  static constexpr size_t kDenseShare = 32;  // dense when one index in so many has a count

  std::vector<Entry>::const_iterator Find(uint32_t index) const {
    return std::lower_bound(list_.begin(), list_.end(), index,
                            [](const Entry& entry, uint32_t i) { return entry.first < i; });
  }

  void AddDense(uint32_t index, int32_t delta, size_t universe) {
    if (index >= dense_.size()) dense_.resize(std::max<size_t>(universe, index + size_t{1}));
    const bool was = dense_[index] != 0;
    dense_[index] += delta;
    dense_nonzero_ += static_cast<size_t>(dense_[index] != 0) - static_cast<size_t>(was);
  }

  void AddToMap(uint32_t index, int32_t delta, size_t universe) {
    const auto [it, inserted] = map_->try_emplace(index, 0);
    it->second += delta;
    if (it->second == 0) map_->erase(it);
    if (inserted && map_->size() > universe / kDenseShare) MakeDense(universe);
  }

  void AddToList(uint32_t index, int32_t delta, size_t universe) {
    const auto at = list_.begin() + (Find(index) - list_.cbegin());
    if (at != list_.end() && at->first == index) {
      at->second += delta;
      if (at->second == 0) list_.erase(at);
      return;
    }
    list_.insert(at, Entry{index, delta});
    if (list_.size() <= kListEntries) return;
    if (list_.size() > universe / kDenseShare) {
      MakeDense(universe);
    } else {
      map_ = std::make_unique<Map>(list_.begin(), list_.end());
      list_ = std::vector<Entry>();
    }
  }

  void MakeDense(size_t universe) {
    std::vector<int32_t> dense(universe);
    size_t nonzero = 0;
    ForEach([&](uint32_t index, int32_t count) {
      if (index >= dense.size()) dense.resize(index + size_t{1});
      dense[index] = count;
      ++nonzero;
    });
    Clear();
    dense_ = std::move(dense);
    dense_nonzero_ = nonzero;
    list_ = std::vector<Entry>();
  }

  using Map = boost::unordered_flat_map<uint32_t, int32_t>;

  std::vector<Entry> list_;   // sorted; used while neither of the others is
  std::unique_ptr<Map> map_;  // never with a zero in it
  std::vector<int32_t> dense_;
  size_t dense_nonzero_ = 0;
};

}  // namespace berth::cluster

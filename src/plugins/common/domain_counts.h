// DomainCounts: one number per value of a label key, for the length of a scheduling cycle. Counts
// are 32 bits wide, weights 64.
//
// Kept from cycle to cycle and cleared by what was touched, so that a cycle costs the domains it
// looks at. The entry of code 0 (nodes without the label) is always 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/wrap.h"
#include "cluster/index_counts.h"
#include "cluster/label_columns.h"

namespace berth::plugins {

template <class T>
class DomainCounts {
 public:
  // All zero, for the values `column` has now.
  void Reset(const cluster::LabelColumn& column) {
    if (all_touched_) std::fill(counts_.begin(), counts_.end(), 0);
    for (const uint32_t code : touched_) counts_[code] = 0;
    all_touched_ = false;
    touched_.clear();
    column_ = &column;
    if (counts_.size() < column.values.size()) counts_.resize(column.values.size());
  }

  const cluster::LabelColumn& Column() const { return *column_; }
  // By code.
  const T* Data() const { return counts_.data(); }
  T Get(uint32_t code) const { return counts_[code]; }

  void Add(uint32_t code, T delta) {
    if (code == cluster::LabelColumn::kAbsent) return;
    Touch(code);
    counts_[code] = Sum(counts_[code], delta);
  }

  // Adds `factor` times every count.
  void AddAll(const cluster::IndexCounts& counts, T factor = 1) {
    if (!counts.IsDense()) {
      counts.ForEach([&](uint32_t code, int32_t count) { Add(code, Product(count, factor)); });
      return;
    }
    const auto dense = counts.Dense();
    const size_t size = std::min(dense.size(), counts_.size());
    all_touched_ = true;
    if (factor == 1) {
      for (size_t code = 1; code < size; ++code) counts_[code] = Sum(counts_[code], dense[code]);
    } else {
      for (size_t code = 1; code < size; ++code) {
        counts_[code] = Sum(counts_[code], Product(dense[code], factor));
      }
    }
  }

 private:
  void Touch(uint32_t code) {
    if (all_touched_) return;
    touched_.push_back(code);
    all_touched_ = touched_.size() > counts_.size();
  }

  // They wrap around, as Go's do: weights come from users and may be absurd.
  static T Sum(T a, T b) { return static_cast<T>(WrapAdd(a, b)); }
  static T Product(T a, T b) { return static_cast<T>(WrapMul(a, b)); }

  const cluster::LabelColumn* column_ = nullptr;
  std::vector<T> counts_;
  std::vector<uint32_t> touched_;
  bool all_touched_ = false;
};

// The DomainCounts of several label keys, made as keys are met.
template <class T>
class DomainTable {
 public:
  void Clear() {
    used_ = 0;
    index_.clear();
  }
  DomainCounts<T>& For(const cluster::LabelColumn& column) {
    const auto [it, inserted] = index_.try_emplace(&column, used_);
    if (inserted) {
      if (used_ == tables_.size()) tables_.emplace_back();
      tables_[used_++].Reset(column);
    }
    return tables_[it->second];
  }
  const DomainCounts<T>* begin() const { return tables_.data(); }
  const DomainCounts<T>* end() const { return tables_.data() + used_; }
  size_t Size() const { return used_; }

 private:
  std::vector<DomainCounts<T>> tables_;
  size_t used_ = 0;
  boost::unordered_flat_map<const cluster::LabelColumn*, size_t> index_;
};

}  // namespace berth::plugins

// DomainCounts: one number per value of a label key, for the duration of a scheduling cycle. Counts
// are 32 bits wide, weights 64.
//
// Reused from cycle to cycle; only touched entries are cleared, so a cycle costs the domains it
// visits. Where every domain is a node and the same pods were counted before, the counts are kept,
// and a cycle costs the nodes that changed. The entry of code 0 (nodes without the label) is always
// 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/wrap.h"
#include "cluster/cluster.h"
#include "cluster/table/index_counts.h"
#include "cluster/table/label_columns.h"

namespace berth::plugins {

// Names counts for ever: those of a counter, or of a term of placed pods.
struct CountsName {
  cluster::CounterHandle handle;
  bool of_term = false;
};

template <class T>
class DomainCounts {
 public:
  // Starts a plan for `column`.
  void Begin(const cluster::LabelColumn& column) {
    planned_column_ = &column;
    plan_.clear();
  }
  // `factor` times every count is to be in the table.
  void Plan(const cluster::IndexCounts& counts, const CountsName& name, T factor) {
    plan_.push_back({name.handle.serial, name.handle.id, name.of_term, factor, &counts});
  }
  // Carries out the plan.
  void Settle(const cluster::Cluster& cluster) {
    if (!CatchUp(cluster)) {
      Reset(*planned_column_);
      for (const Part& part : plan_) AddAll(*part.counts, part.factor);
    }
    std::swap(settled_, plan_);
    generation_ = cluster.Topology().Generation();
    position_ = cluster.Changes().Read();
    is_settled_ = true;
  }

  // What was planned and settled, if domains are nodes: then the count of a node depends on that
  // and on its own pods.
  void AppendParts(std::vector<int64_t>* out) const {
    const size_t size = column_->IsOnePerNode() ? settled_.size() : 0;
    out->push_back(static_cast<int64_t>(size));
    for (size_t i = 0; i < size; ++i) {
      const Part& part = settled_[i];
      out->push_back(static_cast<int64_t>(part.serial * 2 + (part.of_term ? 1 : 0)));
      out->push_back(part.factor);
    }
  }

  // All zero, for the values `column` has now.
  void Reset(const cluster::LabelColumn& column) {
    if (all_touched_) std::fill(counts_.begin(), counts_.end(), 0);
    for (const uint32_t code : touched_) counts_[code] = 0;
    all_touched_ = false;
    touched_.clear();
    is_settled_ = false;
    column_ = &column;
    if (counts_.size() < column.values.size()) counts_.resize(column.values.size());
  }

  const cluster::LabelColumn& Column() const { return *column_; }
  // By code.
  const T* Data() const { return counts_.data(); }
  T Get(uint32_t code) const { return counts_[code]; }

  void Add(uint32_t code, T delta) {
    if (code == cluster::LabelColumn::kAbsent) return;
    is_settled_ = false;
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
  struct Part {
    uint64_t serial;
    uint32_t id;
    bool of_term;
    T factor;
    const cluster::IndexCounts* counts;

    bool operator==(const Part& o) const {
      return serial == o.serial && id == o.id && of_term == o.of_term && factor == o.factor;
    }
  };

  // If the plan is what is in the table already, counts again where nodes changed. False: it is
  // not, or too much changed.
  bool CatchUp(const cluster::Cluster& cluster) {
    constexpr size_t kFewRows = 16;
    constexpr size_t kRowsPerChange = 32;
    const cluster::LabelColumn& column = *planned_column_;
    if (!is_settled_ || column_ != planned_column_ || !column.IsOnePerNode() ||
        counts_.size() < column.values.size() || settled_ != plan_ ||
        generation_ != cluster.Topology().Generation() ||
        cluster.Changes().Missed(position_) > kFewRows + cluster.Rows() / kRowsPerChange) {
      return false;
    }
    return cluster.Changes().ForEachSince(position_, [&](cluster::NodeIndex row) {
      const uint32_t code = column.codes[row];
      if (code == cluster::LabelColumn::kAbsent) return;
      T sum = 0;
      for (const Part& part : plan_) {
        sum = Sum(sum, Product(part.counts->Get(code), part.factor));
      }
      Touch(code);
      counts_[code] = sum;
    });
  }

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

  const cluster::LabelColumn* planned_column_ = nullptr;
  std::vector<Part> plan_;
  // What is in the table, if it was not changed since.
  bool is_settled_ = false;
  std::vector<Part> settled_;
  uint64_t generation_ = 0;  // of the topology
  uint64_t position_ = 0;    // in the cluster's log
};

// The DomainCounts of several label keys, made as keys are met.
template <class T>
class DomainTable {
 public:
  void Clear() {
    if (used_ == 0) return;
    used_ = 0;
    index_.clear();
  }
  DomainCounts<T>& For(const cluster::LabelColumn& column) {
    bool is_new = false;
    DomainCounts<T>& table = At(column, &is_new);
    if (is_new) table.Reset(column);
    return table;
  }
  // The table to Plan with; Settle carries out all plans. REQUIRES: no For since Clear.
  DomainCounts<T>& Planned(const cluster::LabelColumn& column) {
    bool is_new = false;
    DomainCounts<T>& table = At(column, &is_new);
    if (is_new) table.Begin(column);
    return table;
  }
  void Settle(const cluster::Cluster& cluster) {
    for (size_t i = 0; i < used_; ++i) tables_[i].Settle(cluster);
  }
  const DomainCounts<T>* begin() const { return tables_.data(); }
  const DomainCounts<T>* end() const { return tables_.data() + used_; }
  size_t Size() const { return used_; }

 private:
  DomainCounts<T>& At(const cluster::LabelColumn& column, bool* is_new) {
    const auto [it, inserted] = index_.try_emplace(&column, used_);
    *is_new = inserted;
    if (inserted && used_++ == tables_.size()) tables_.emplace_back();
    return tables_[it->second];
  }

  std::vector<DomainCounts<T>> tables_;
  size_t used_ = 0;
  boost::unordered_flat_map<const cluster::LabelColumn*, size_t> index_;
};

}  // namespace berth::plugins

// ClassVerdicts: cached verdicts of the nodes that reject the pods of a class, with counts, so that
// a pod that fits nowhere is diagnosed without evaluating them again.
//
// Kept from the first pod of the shape that fits nowhere. Only verdicts that depend on the node
// alone are cached; those of topology domains are computed for every pod.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/points/verdict.h"

namespace berth::framework {

// Nodes with equal verdicts.
struct VerdictCount {
  Verdict verdict;
  size_t nodes = 0;
};

// Verdicts with the number of nodes that have them.
class VerdictCounts {
 public:
  void Clear() { counts_.clear(); }
  void Add(const Verdict& verdict, size_t nodes) {
    VerdictCount& count = counts_[verdict.Packed()];
    count.verdict = verdict;
    count.nodes += nodes;
  }
  void Take(const Verdict& verdict) {
    const auto it = counts_.find(verdict.Packed());
    if (--it->second.nodes == 0) counts_.erase(it);
  }
  // Calls f(const VerdictCount&), in no order.
  template <class F>
  void ForEach(F&& f) const {
    for (const auto& [key, count] : counts_) f(count);
  }

 private:
  boost::unordered_flat_map<uint64_t, VerdictCount> counts_;
};

class ClassVerdicts {
 public:
  explicit ClassVerdicts(size_t rows) : by_row_(rows) {}

  void Grow(size_t rows) {
    if (by_row_.size() < rows) by_row_.resize(rows);
  }
  // The node is rejected.
  void Put(cluster::NodeIndex row, const Verdict& verdict) {
    if (by_row_[row] == verdict) return;
    Remove(row);
    by_row_[row] = verdict;
    counts_.Add(verdict, 1);
  }
  // The node fits, or is gone.
  void Remove(cluster::NodeIndex row) {
    if (!Has(row)) return;
    counts_.Take(by_row_[row]);
    by_row_[row] = Verdict();
  }

  bool Has(cluster::NodeIndex row) const { return by_row_[row].code != Code::kSuccess; }
  // Rows without a verdict have the code Success.
  std::span<const Verdict> ByRow() const { return by_row_; }
  const VerdictCounts& Counts() const { return counts_; }
  size_t MemoryBytes() const { return by_row_.capacity() * sizeof(Verdict); }

 private:
  std::vector<Verdict> by_row_;
  VerdictCounts counts_;
};

}  // namespace berth::framework

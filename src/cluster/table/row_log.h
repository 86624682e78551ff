// RowLog: the rows of the node table that changed, in order, so that what was derived from a row is
// derived again only where something happened.
//
// A ring: it forgets, and a reader that is too far behind reads all rows again. Positions count
// changes and are never reused.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/ids.h"

namespace berth::cluster {

class RowLog {
 public:
  // How many rows there are. More changes than an eighth of them are not remembered: reading all
  // rows is cheaper then.
  void SetRows(size_t rows) {
    const size_t size = std::bit_ceil(std::max(kMinimum, rows / 8));
    if (size <= ring_.size()) return;
    ring_.assign(size, 0);
    first_ = end_;
  }

  // A row that changes again before anyone has looked is noted once.
  void Note(NodeIndex row) {
    if (end_ > read_ && end_ > first_ && ring_[(end_ - 1) & (ring_.size() - 1)] == row) return;
    ring_[end_ & (ring_.size() - 1)] = row;
    ++end_;
  }

  // The position to come back with. From now on all changes are new ones.
  uint64_t Read() const {
    read_ = end_;
    return end_;
  }
  // How many changes there were after `position`.
  uint64_t Missed(uint64_t position) const { return end_ - position; }

  // Calls f(row) for every change after `position`, oldest first. False, and nothing is called,
  // when that is longer ago than the log reaches.
  template <class F>
  bool ForEachSince(uint64_t position, F&& f) const {
    if (position < first_ || end_ - position > ring_.size()) return false;
    for (uint64_t i = position; i < end_; ++i) f(ring_[i & (ring_.size() - 1)]);
    return true;
  }

 private:
  static constexpr size_t kMinimum = 1024;

  std::vector<NodeIndex> ring_ = std::vector<NodeIndex>(kMinimum);
  uint64_t first_ = 0;  // the oldest that the ring may still hold
  uint64_t end_ = 0;
  mutable uint64_t read_ = 0;
};

}  // namespace berth::cluster

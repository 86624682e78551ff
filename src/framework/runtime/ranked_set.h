// RankedSet: a set of small numbers that knows how many members come before one, and which is the
// n-th.
//
// Counts per word are brought up to date when they are next needed: a set that did not change
// answers at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "cluster/table/node_set.h"

namespace berth::framework {

class RankedSet {
 public:
  // Of the numbers 0 to size - 1: all of them, or none.
  void Assign(size_t size, bool all);

  void Insert(uint32_t i) { Set(i, true); }
  void Erase(uint32_t i) { Set(i, false); }
  void Set(uint32_t i, bool present) {
    if (members_.Contains(i) == present) return;
    members_.Set(i, present);
    current_ = false;
  }

  size_t Size() const { return members_.Capacity(); }
  // Counts members again if the set changed. The methods below require it.
  void Prepare() {
    if (!current_) Recount();
  }
  size_t Count() const {
    BERTH_DCHECK(current_);
    return before_.back();
  }
  // How many members are less than i. REQUIRES: i <= Size().
  size_t Rank(size_t i) const {
    BERTH_DCHECK(current_);
    const size_t w = i / kWordBits;
    if (i % kWordBits == 0) return before_[w];
    const uint64_t below = (uint64_t{1} << (i % kWordBits)) - 1;
    return before_[w] + static_cast<size_t>(std::popcount(members_.Words()[w] & below));
  }
  // The member of that rank. REQUIRES: rank < Count().
  uint32_t Nth(size_t rank) const {
    BERTH_DCHECK(rank < Count());
    const auto after = std::upper_bound(before_.begin(), before_.end(), rank);
    const auto w = static_cast<size_t>(after - before_.begin()) - 1;
    uint64_t word = members_.Words()[w];
    for (size_t left = rank - before_[w]; left > 0; --left) word &= word - 1;
    return static_cast<uint32_t>(w * kWordBits + static_cast<size_t>(std::countr_zero(word)));
  }

 private:
  static constexpr size_t kWordBits = cluster::NodeSet::kWordBits;

  void Recount();

  cluster::NodeSet members_;
  std::vector<uint32_t> before_;  // by word: members in the words before it; and in all at the end
  bool current_ = false;
};

}  // namespace berth::framework

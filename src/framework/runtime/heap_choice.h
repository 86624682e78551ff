// HeapChoice: which of the nodes with the highest total kube-scheduler takes from 1.35 on.
//
// It builds a binary max-heap (Go's container/heap) over the list of feasible nodes, in the order
// in which they were found, and takes the root. Building sifts down from the last parent to the
// first. A node gives way only to a child with a higher total, and of two equal children to the
// left one. So the root of a subtree is its first node if that has the highest total of the
// subtree, else the root of the left subtree if that has it, else of the right one. Of all nodes
// with the highest total the winner is therefore the first in pre-order of the tree in which index
// i has the children 2i + 1 and 2i + 2. No heap is built: the winner is the best node with the
// least PreOrderKey.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "cluster/ids.h"
#include "framework/runtime/ranked_set.h"

namespace berth::framework {

// Orders indices of the list as a walk of the heap's tree in pre-order visits them. The bits of
// i + 1 below the highest one are the path from the root to i: 0 is left, 1 is right. A path comes
// after its prefixes, else in lexical order.
inline uint64_t PreOrderKey(size_t i) {
  constexpr int kLongest = 57;
  const uint64_t path = i + 1;
  const int length = std::bit_width(path);
  return path << (kLongest - length) << 6 | static_cast<uint64_t>(length);
}

// The index that such a walk visits after i in a list of `size`; `size` after the last one.
inline size_t NextInPreOrder(size_t i, size_t size) {
  if (2 * i + 1 < size) return 2 * i + 1;
  for (; i > 0; i = (i - 1) / 2) {
    const bool is_left = i % 2 == 1;
    if (is_left && i + 1 < size) return i + 1;
  }
  return size;
}

// The feasible nodes in the order a search finds them that starts at one position of the node order
// and goes round. Refers to its arguments.
class FeasibleList {
 public:
  // `order`: rows by position. `fits`: the positions of feasible nodes, prepared. REQUIRES: start <
  // order.size().
  FeasibleList(std::span<const cluster::NodeIndex> order, const RankedSet& fits, size_t start)
      : order_(order), fits_(fits), size_(fits.Count()), skipped_(fits.Rank(start)) {}

  size_t Size() const { return size_; }
  cluster::NodeIndex At(size_t i) const {
    const size_t rank = i + skipped_ < size_ ? i + skipped_ : i + skipped_ - size_;
    return order_[size_ == order_.size() ? rank : fits_.Nth(rank)];
  }
  // REQUIRES: the node at that position is feasible.
  size_t IndexOf(size_t position) const {
    const size_t rank = fits_.Rank(position);
    return rank >= skipped_ ? rank - skipped_ : rank + size_ - skipped_;
  }

 private:
  std::span<const cluster::NodeIndex> order_;
  const RankedSet& fits_;
  size_t size_;
  size_t skipped_;  // feasible nodes before the start
};

// The winner among `ties` nodes. `is_best(row)` tells them from others, `for_each(f)` calls f with
// the position and the row of each. Where many tie, the start of a walk in pre-order meets one
// soon; else each is looked at. The cost is of the order of the number of ties in any case, and at
// most of the square root of the list where ties are spread over it.
template <class IsBest, class ForEach>
cluster::NodeIndex HeapChoice(const FeasibleList& list, size_t ties, const IsBest& is_best,
                              const ForEach& for_each) {
  constexpr size_t kTiesPerStep = 8;  // a step of the walk costs as much as that many ties
  size_t i = 0;
  for (size_t steps = ties / kTiesPerStep; steps > 0 && i < list.Size(); --steps) {
    const cluster::NodeIndex row = list.At(i);
    if (is_best(row)) return row;
    i = NextInPreOrder(i, list.Size());
  }
  uint64_t least = std::numeric_limits<uint64_t>::max();
  cluster::NodeIndex winner = cluster::kNoNode;
  for_each([&](size_t position, cluster::NodeIndex row) {
    const uint64_t key = PreOrderKey(list.IndexOf(position));
    if (key >= least) return;
    least = key;
    winner = row;
  });
  return winner;
}

// The same where the candidates are a list of their own, by looking at each. The search goes round
// from `start` on. REQUIRES: start < candidates.size().
template <class IsFeasible, class IsBest>
cluster::NodeIndex HeapChoice(std::span<const cluster::NodeIndex> candidates, size_t start,
                              const IsFeasible& is_feasible, const IsBest& is_best) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  cluster::NodeIndex winner = cluster::kNoNode;
  size_t found = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const size_t at = start + i < candidates.size() ? start + i : start + i - candidates.size();
    const cluster::NodeIndex row = candidates[at];
    if (!is_feasible(row)) continue;
    const uint64_t key = PreOrderKey(found++);
    if (key >= least || !is_best(row)) continue;
    least = key;
    winner = row;
  }
  return winner;
}

}  // namespace berth::framework

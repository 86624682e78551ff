// NodeSet: a set of rows of the node table, one bit each.
//
// A Filter narrows one, a Score reads one. Words are exposed because that is what makes scans fast:
// a kernel looks at 64 nodes at a time and skips words that are zero. Invariant: bits at and beyond
// Capacity() are zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "cluster/ids.h"

namespace berth::cluster {

class NodeSet {
 public:
  static constexpr size_t kWordBits = 64;

  NodeSet() = default;
  explicit NodeSet(size_t capacity) { Resize(capacity); }

  // Number of rows the set can speak about. Growing adds absent rows; shrinking drops rows.
  size_t Capacity() const { return capacity_; }
  void Resize(size_t capacity) {
    words_.resize((capacity + kWordBits - 1) / kWordBits, 0);
    capacity_ = capacity;
    if (capacity % kWordBits != 0) words_.back() &= (uint64_t{1} << (capacity % kWordBits)) - 1;
  }

  bool Contains(NodeIndex n) const { return (words_[n / kWordBits] >> (n % kWordBits)) & 1; }
  void Insert(NodeIndex n) { words_[n / kWordBits] |= Bit(n); }
  void Erase(NodeIndex n) { words_[n / kWordBits] &= ~Bit(n); }
  void Set(NodeIndex n, bool present) { present ? Insert(n) : Erase(n); }
  void Clear() { words_.assign(words_.size(), 0); }

  size_t Count() const {
    size_t count = 0;
    for (uint64_t w : words_) count += static_cast<size_t>(std::popcount(w));
    return count;
  }
  bool Empty() const {
    for (uint64_t w : words_) {
      if (w != 0) return false;
    }
    return true;
  }

  std::span<const uint64_t> Words() const { return words_; }
  std::span<uint64_t> MutableWords() { return words_; }

  // Keeps only what is in `other` too. REQUIRES: equal capacities.
  void IntersectWith(const NodeSet& other) {
    BERTH_DCHECK(capacity_ == other.capacity_);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }

  // Calls f(NodeIndex) for every member, in row order.
  template <class F>
  void ForEach(F&& f) const {
    for (size_t i = 0; i < words_.size(); ++i) ForEachBit(words_[i], i, f);
  }

  // Calls f(NodeIndex) for every bit of `word`, the word_index-th of a set.
  template <class F>
  static void ForEachBit(uint64_t word, size_t word_index, F&& f) {
    while (word != 0) {
      f(static_cast<NodeIndex>(word_index * kWordBits +
                               static_cast<size_t>(std::countr_zero(word))));
      word &= word - 1;
    }
  }

  // The rank-th member in row order (0 is the first). REQUIRES: rank < Count().
  NodeIndex Nth(size_t rank) const {
    BERTH_DCHECK(rank < Count());
    for (size_t i = 0;; ++i) {
      const auto in_word = static_cast<size_t>(std::popcount(words_[i]));
      if (rank >= in_word) {
        rank -= in_word;
        continue;
      }
      uint64_t w = words_[i];
      for (; rank > 0; --rank) w &= w - 1;
      return static_cast<NodeIndex>(i * kWordBits + static_cast<size_t>(std::countr_zero(w)));
    }
  }

  bool operator==(const NodeSet&) const = default;

 private:
  static uint64_t Bit(NodeIndex n) { return uint64_t{1} << (n % kWordBits); }

  std::vector<uint64_t> words_;
  size_t capacity_ = 0;
};

}  // namespace berth::cluster

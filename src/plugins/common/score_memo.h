// Fast normalization of scores.
//
// ScoreMemo caches the normalized value of a raw score: nodes of a cycle share few raw scores, and
// a division costs more than a lookup.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cluster/table/node_set.h"

namespace berth::plugins {

// Calls f(NodeIndex) for every bit of `word`, the w-th of a set; full words without bit scanning.
template <class F>
void ForEachNode(uint64_t word, size_t w, F&& f) {
  if (word != ~uint64_t{0}) {
    cluster::NodeSet::ForEachBit(word, w, f);
    return;
  }
  const size_t begin = w * cluster::NodeSet::kWordBits;
  for (size_t b = 0; b < cluster::NodeSet::kWordBits; ++b) {
    f(static_cast<cluster::NodeIndex>(begin + b));
  }
}
template <class F>
void ForEachNode(const cluster::NodeSet& set, F&& f) {
  for (size_t w = 0; w < set.Words().size(); ++w) ForEachNode(set.Words()[w], w, f);
}

class ScoreMemo {
 public:
  ScoreMemo() {
    // No raw score is in the place of another one's: nothing is remembered yet.
    for (size_t i = 0; i < kPlaces; ++i) raw_[i] = static_cast<int64_t>(i) + 1;
  }

  template <class Compute>
  int64_t Get(int64_t raw, Compute&& compute) {
    const size_t place = static_cast<uint64_t>(raw) % kPlaces;
    if (raw_[place] != raw) {
      raw_[place] = raw;
      normalized_[place] = compute(raw);
    }
    return normalized_[place];
  }

 private:
  static constexpr size_t kPlaces = 256;
  std::array<int64_t, kPlaces> raw_;
  std::array<int64_t, kPlaces> normalized_;
};

}  // namespace berth::plugins

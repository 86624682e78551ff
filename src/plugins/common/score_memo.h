// ScoreMemo: remembers what a raw score is normalised to. Nodes of a cycle share few raw scores,
// and a division costs more than a look.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::plugins {

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

// Random: the only source of randomness, a function of its seed and of the number of draws.
#pragma once

#include <cstdint>

namespace berth {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) {
    if (bound == 1) return 0;
    // Lemire's method: the high half of a 128-bit product, redrawn where it would be biased.
    __extension__ using Wide = unsigned __int128;
    const uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      const Wide product = static_cast<Wide>(Next()) * bound;
      if (static_cast<uint64_t>(product) >= threshold) return static_cast<uint64_t>(product >> 64);
    }
  }

 private:
  // SplitMix64.
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace berth

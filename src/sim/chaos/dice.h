// Dice: random draws of a simulation. A function of its seed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace berth::sim {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  bool PerMille(uint32_t chance) { return random_.Below(1000) < chance; }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(high - low) + 1));
  }
  // REQUIRES: not empty.
  template <class T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[random_.Below(choices.size())];
  }
  template <class T>
  void Shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.Below(i)]);
  }
  // A seed for independent dice, whose draws do not change these.
  uint64_t Seed() { return random_.Below(uint64_t{1} << 62); }

 private:
  Random random_;
};

}  // namespace berth::sim

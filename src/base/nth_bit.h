// NthBit: the position of a set bit by its rank.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace berth {

// The position of the set bit that has `rank` set bits below it. Skips whole bytes by their counts,
// so that at most seven bits are removed one by one.
// REQUIRES: rank < popcount(word).
inline size_t NthBit(uint64_t word, size_t rank) {
  BERTH_DCHECK(rank < static_cast<size_t>(std::popcount(word)));
  constexpr uint64_t kEveryByte = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t counts = word - (word >> 1 & 0x5555555555555555);
  counts = (counts & 0x3333333333333333) + (counts >> 2 & 0x3333333333333333);
  counts = (counts + (counts >> 4)) & 0x0f0f0f0f0f0f0f0f;
  const uint64_t up_to = counts * kEveryByte;  // byte i: set bits in bytes 0 to i, at most 64
  // A high bit stays where up_to > rank. The lowest one marks the byte that has the wanted bit.
  const uint64_t beyond = ((up_to | kHighBits) - (rank + 1) * kEveryByte) & kHighBits;
  const auto shift = static_cast<size_t>(std::countr_zero(beyond)) & ~size_t{7};
  rank -= up_to << 8 >> shift & 0xff;
  uint64_t rest = word >> shift;
  for (; rank > 0; --rank) rest &= rest - 1;
  return shift + static_cast<size_t>(std::countr_zero(rest));
}

}  // namespace berth

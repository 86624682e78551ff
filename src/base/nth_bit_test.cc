#include "base/nth_bit.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth {
namespace {

// As NthBit, one bit after the other.
size_t SlowNthBit(uint64_t word, size_t rank) {
  for (; rank > 0; --rank) word &= word - 1;
  return static_cast<size_t>(std::countr_zero(word));
}

void ExpectAllRanks(uint64_t word) {
  for (size_t rank = 0; rank < static_cast<size_t>(std::popcount(word)); ++rank) {
    ASSERT_EQ(NthBit(word, rank), SlowNthBit(word, rank)) << std::hex << word << " rank " << rank;
  }
}

TEST(NthBitTest, FindsEveryBitOfOrderlyWords) {
  for (size_t bit = 0; bit < 64; ++bit) {
    ExpectAllRanks(uint64_t{1} << bit);
    ExpectAllRanks(~uint64_t{0} << bit);
    ExpectAllRanks(~uint64_t{0} >> bit);
  }
}

TEST(NthBitTest, FindsEveryBitOfRandomWords) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t word = random.Below(~uint64_t{0});
    ExpectAllRanks(word);
    ExpectAllRanks(word & random.Below(~uint64_t{0}) & random.Below(~uint64_t{0}));
    ExpectAllRanks(word | random.Below(~uint64_t{0}) | random.Below(~uint64_t{0}));
  }
}

}  // namespace
}  // namespace berth

#include "cluster/table/index_counts.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

// Every shape the counts take on their way from empty to everywhere and back holds the same
// numbers.
TEST(IndexCounts, AgreesWithAMapInEveryShape) {
  for (const size_t universe : {size_t{10}, size_t{300}, size_t{5000}, size_t{200000}}) {
    std::mt19937 random(static_cast<unsigned>(universe));
    IndexCounts counts;
    std::map<uint32_t, int32_t> expected;
    for (int step = 0; step < 20000; ++step) {
      const auto index = static_cast<uint32_t>(random() % universe);
      // First mostly additions, then mostly removals.
      const bool add = random() % 10 < (step < 10000 ? 8u : 2u);
      const int32_t delta = add ? 1 : -std::min(1, expected[index]);
      counts.Add(index, delta, universe);
      expected[index] += delta;
      if (expected[index] == 0) expected.erase(index);
    }
    std::map<uint32_t, int32_t> found;
    counts.ForEach([&](uint32_t index, int32_t count) { found[index] = count; });
    EXPECT_EQ(found, expected) << universe;
    EXPECT_EQ(counts.NonZero(), expected.size()) << universe;
    for (uint32_t index = 0; index < 1000; ++index) {
      EXPECT_EQ(counts.Get(index), expected.contains(index) ? expected[index] : 0);
    }
  }
}

TEST(IndexCounts, BecomesAnArrayWhenManyIndicesHaveACount) {
  IndexCounts counts;
  for (uint32_t i = 0; i < 64; ++i) counts.Add(i, 1, 1000);
  EXPECT_FALSE(counts.IsDense());
  counts.Add(64, 1, 1000);
  EXPECT_TRUE(counts.IsDense());
  EXPECT_EQ(counts.Dense()[64], 1);
  // Indices may grow beyond what was there when it became one.
  counts.Add(2000, 3, 2001);
  EXPECT_EQ(counts.Get(2000), 3);
  EXPECT_EQ(counts.Get(5000), 0);
  counts.Clear();
  EXPECT_EQ(counts.NonZero(), 0u);
  EXPECT_EQ(counts.Get(64), 0);
}

}  // namespace
}  // namespace berth::cluster

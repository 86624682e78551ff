#include "shadow/weights.h"

#include <gtest/gtest.h>

namespace berth::shadow {
namespace {

// Whether a node with these differences to another is at least as good under weight `w`.
bool Good(int64_t total, int64_t score, int64_t ours, int64_t w) {
  return total + (w - ours) * score >= 0;
}

TEST(WeightsTest, ARangeHoldsExactlyTheWeightsThatExplain) {
  for (int64_t total = -30; total <= 30; ++total) {
    for (int64_t score = -7; score <= 7; ++score) {
      for (const int64_t ours : {0, 1, 3}) {
        WeightRange range{.plugin = "P", .ours = ours, .first = 0, .last = kMostWeight};
        Narrow(total, score, &range);
        for (int64_t w = 0; w <= 60; ++w) {
          EXPECT_EQ(w >= range.first && w <= range.last, Good(total, score, ours, w))
              << total << " " << score << " " << ours << " " << w;
        }
      }
    }
  }
}

TEST(WeightsTest, TheWeightInMostRangesWins) {
  WeightGuesses guesses;
  guesses.Add({{"A", 1, 5, 9}, {"B", 1, 0, 0}});
  guesses.Add({{"A", 1, 7, 20}, {"B", 1, 3, 2}});
  guesses.Add({{"A", 1, 30, 40}, {"B", 1, 3, 2}});
  const auto best = guesses.Best();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].plugin, "A");
  EXPECT_EQ(best[0].explained, 2);
  EXPECT_EQ(best[0].gaps, 3);
  EXPECT_EQ(best[0].first, 7);
  EXPECT_EQ(best[0].last, 9);
  EXPECT_EQ(best[1].plugin, "B");
  EXPECT_EQ(best[1].explained, 1);
}

TEST(WeightsTest, NoGapsGiveNoGuess) { EXPECT_TRUE(WeightGuesses().Best().empty()); }

}  // namespace
}  // namespace berth::shadow

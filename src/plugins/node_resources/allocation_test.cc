#include "plugins/node_resources/allocation.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::plugins::node_resources {
namespace {

using cluster::NodeIndex;

// One node's amounts of one resource.
struct Amount {
  int64_t capacity;
  int64_t used;
  int64_t request;
  int64_t weight = 1;
};

std::vector<ScoredResource> Scored(const std::vector<Amount>& amounts) {
  std::vector<ScoredResource> scored;
  for (const Amount& a : amounts) scored.push_back({&a.capacity, &a.used, a.request, a.weight});
  return scored;
}

struct Case {
  const char* what;
  std::vector<Amount> amounts;
  int64_t want;
};

TEST(Allocation, LeastAllocated) {
  const Case cases[] = {
      {"a quarter is left", {{1000, 500, 250}}, 25},
      {"all is left", {{1000, 0, 0}}, 100},
      {"nothing is left", {{1000, 900, 100}}, 0},
      {"more than all", {{1000, 900, 200}}, 0},
      {"rounded down", {{3, 0, 1}}, 66},
      {"the mean, rounded down", {{4000, 2000, 1000}, {10000, 0, 5000}}, 37},
      {"the weighted mean", {{4000, 2000, 1000, 1}, {10000, 0, 5000, 3}}, 43},
      {"a resource the node lacks does not count", {{4000, 2000, 1000}, {0, 0, 5000}}, 25},
      {"a node that has nothing", {{0, 0, 1}}, 0},
      {"no resources", {}, 0},
      {"less than nothing is used", {{1000, -1000, 0}}, 200},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(LeastAllocatedScore(Scored(c.amounts), 0), c.want) << c.what;
  }
}

TEST(Allocation, MostAllocated) {
  const Case cases[] = {
      {"three quarters are used", {{1000, 500, 250}}, 75},
      {"nothing is used", {{1000, 0, 0}}, 0},
      {"more than all counts as all", {{1000, 900, 200}}, 100},
      {"the mean, rounded down", {{4000, 2000, 1000}, {10000, 0, 5000}}, 62},
      {"the weighted mean", {{4000, 2000, 1000, 1}, {10000, 0, 5000, 3}}, 56},
      {"a resource the node lacks does not count", {{4000, 2000, 1000}, {0, 0, 5000}}, 75},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MostAllocatedScore(Scored(c.amounts), 0), c.want) << c.what;
  }
}

TEST(Allocation, Balanced) {
  const Case cases[] = {
      {"equal fractions", {{1000, 0, 500}, {8, 2, 2}}, 100},
      {"two resources", {{1000, 500, 250}, {8, 2, 2}}, 87},
      {"all of one, nothing of the other", {{1000, 0, 1000}, {8, 0, 0}}, 50},
      {"more than all counts as all", {{1000, 0, 5000}, {8, 0, 0}}, 50},
      {"three resources: the standard deviation", {{2, 0, 2}, {2, 0, 1}, {2, 0, 0}}, 59},
      {"one resource is always balanced", {{1000, 500, 250}}, 100},
      {"a resource the node lacks does not count", {{1000, 500, 250}, {0, 2, 2}}, 100},
      {"no resources", {}, 100},
  };
  for (const Case& c : cases) EXPECT_EQ(BalancedScore(Scored(c.amounts), 0), c.want) << c.what;
}

TEST(Allocation, RequestedToCapacityRatio) {
  const UtilizationScores up = MakeUtilizationScores({{0, 0}, {100, 10}});
  const UtilizationScores down = MakeUtilizationScores({{0, 10}, {100, 0}});
  const UtilizationScores tent = MakeUtilizationScores({{20, 2}, {50, 10}, {70, 1}});
  struct RatioCase {
    const char* what;
    const UtilizationScores& shape;
    std::vector<Amount> amounts;
    int64_t want;
  };
  const RatioCase cases[] = {
      {"rising with use", up, {{1000, 500, 250}}, 75},
      {"falling with use", down, {{1000, 500, 250}}, 25},
      {"the mean is rounded, not cut", up, {{1000, 500, 250}, {10, 0, 5}}, 63},
      {"the weighted mean", up, {{1000, 500, 250, 1}, {10, 0, 5, 3}}, 56},
      {"a score of zero leaves the resource out", up, {{1000, 500, 250}, {10, 0, 0}}, 75},
      {"more than all is 100 percent", down, {{1000, 900, 500}}, 0},
      {"before the first point", tent, {{100, 0, 10}}, 20},
      {"between points", tent, {{100, 0, 35}}, 60},
      {"on a point", tent, {{100, 0, 50}}, 100},
      {"on a falling side", tent, {{100, 0, 60}}, 55},
      {"behind the last point", tent, {{100, 0, 99}}, 10},
      {"a node that has nothing", up, {{0, 0, 5}}, 0},
      {"less than nothing is used", up, {{100, -50, 0}}, 0},
  };
  for (const RatioCase& c : cases) {
    EXPECT_EQ(RatioScore(Scored(c.amounts), c.shape, 0), c.want) << c.what;
  }
}

// --- The kernels give what the rules give

// What amounts of a column look like.
enum class Kind { kSmall, kZeros, kLarge, kHuge, kNegative, kAnything };

int64_t Draw(Kind kind, std::mt19937_64& random) {
  const uint64_t r = random();
  switch (kind) {
    case Kind::kSmall:
      return static_cast<int64_t>(r % 5000);
    case Kind::kZeros:
      return r % 3 == 0 ? static_cast<int64_t>(r % 700) : 0;
    case Kind::kLarge:  // up to where doubles stop being exact, and the last one before
      return r % 8 == 0 ? (int64_t{1} << 46) - 1 : static_cast<int64_t>(r >> 18);
    case Kind::kHuge:
      return static_cast<int64_t>(r >> (1 + r % 20));
    case Kind::kNegative:
      return static_cast<int64_t>(r % 1000) - 500;
    case Kind::kAnything:
      return static_cast<int64_t>(r);
  }
  return 0;
}

constexpr Kind kKinds[] = {Kind::kSmall, Kind::kZeros,    Kind::kLarge,
                           Kind::kHuge,  Kind::kNegative, Kind::kAnything};

struct Columns {
  std::vector<int64_t> allocatable;
  std::vector<int64_t> used;
  int64_t request;
  int64_t weight;
};

TEST(AllocationKernels, AgreeWithTheRuleForOneNode) {
  std::mt19937_64 random(20240607);
  constexpr size_t kWords = 6;
  constexpr size_t kRows = kWords * framework::NodeSet::kWordBits;
  const UtilizationScores shape = MakeUtilizationScores({{0, 0}, {40, 9}, {100, 3}});
  int checked = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Columns> columns(round % 4 == 3 ? 1 + random() % 4 : 2);
    // One odd column among plain ones in some rounds, all odd in others.
    const bool mostly_small = random() % 2 == 0;
    for (Columns& c : columns) {
      const Kind kind = mostly_small && random() % 3 != 0 ? Kind::kSmall : kKinds[random() % 6];
      for (size_t n = 0; n < kRows; ++n) {
        c.allocatable.push_back(Draw(kind, random));
        // Often close to what there is: whole and nearly whole percentages.
        const int64_t capacity = c.allocatable.back();
        c.used.push_back(random() % 2 == 0 ? Draw(kind, random)
                                           : capacity / 100 * static_cast<int64_t>(random() % 101) +
                                                 static_cast<int64_t>(random() % 3) - 1);
      }
      c.request = random() % 3 == 0 ? 0 : Draw(random() % 2 == 0 ? Kind::kSmall : kind, random);
      c.weight = static_cast<int64_t>(1 + random() % 100);
    }
    std::vector<ScoredResource> scored;
    for (const Columns& c : columns) {
      scored.push_back({c.allocatable.data(), c.used.data(), c.request, c.weight});
    }
    framework::NodeSet nodes(kRows);
    for (size_t w = 0; w < kWords; ++w) {  // empty, sparse, dense and full words
      const uint64_t bits = w == 0   ? 0
                            : w == 1 ? random() & random() & random() & random()
                            : w == 2 ? ~uint64_t{0}
                                     : random();
      nodes.MutableWords()[w] = bits;
    }
    std::vector<int64_t> scores(kRows);
    framework::ScoreBatch batch(nodes, scores.data(), 0, kWords);
    const auto check = [&](const char* what, auto&& rule) {
      nodes.ForEach([&](NodeIndex n) {
        ASSERT_EQ(scores[n], rule(n)) << what << ", round " << round << ", node " << n;
        ++checked;
      });
    };
    ScoreLeastAllocated(scored, batch);
    check("least", [&](NodeIndex n) { return LeastAllocatedScore(scored, n); });
    ScoreMostAllocated(scored, batch);
    check("most", [&](NodeIndex n) { return MostAllocatedScore(scored, n); });
    ScoreRatio(scored, shape, batch);
    check("ratio", [&](NodeIndex n) { return RatioScore(scored, shape, n); });
    ScoreBalanced(scored, batch);
    check("balanced", [&](NodeIndex n) { return BalancedScore(scored, n); });
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(checked, 100'000);
}

TEST(AllocationKernels, EveryWholePercentageIsExact) {
  // Quotients that are whole numbers, and those one unit below: where a rounded division would err.
  for (const int64_t capacity :
       {int64_t{1}, int64_t{100}, int64_t{333}, (int64_t{1} << 46) - 1, int64_t{1} << 45}) {
    std::vector<int64_t> allocatable(128, capacity);
    std::vector<int64_t> used(128);
    for (int64_t p = 0; p <= 100; ++p) {
      used[static_cast<size_t>(p)] = capacity / 100 * p + capacity % 100 * p / 100;
    }
    for (const int64_t request : {0, 1}) {
      const std::vector<ScoredResource> scored{{allocatable.data(), used.data(), request, 1}};
      framework::NodeSet nodes(128);
      for (NodeIndex n = 0; n < 128; ++n) nodes.Insert(n);
      std::vector<int64_t> scores(128);
      framework::ScoreBatch batch(nodes, scores.data(), 0, 2);
      ScoreLeastAllocated(scored, batch);
      for (NodeIndex n = 0; n < 128; ++n) {
        ASSERT_EQ(scores[n], LeastAllocatedScore(scored, n)) << capacity << " " << n;
      }
      ScoreMostAllocated(scored, batch);
      for (NodeIndex n = 0; n < 128; ++n) {
        ASSERT_EQ(scores[n], MostAllocatedScore(scored, n)) << capacity << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace berth::plugins::node_resources

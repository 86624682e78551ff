#include "cluster/table/node_set.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

std::vector<NodeIndex> Members(const NodeSet& set) {
  std::vector<NodeIndex> members;
  set.ForEach([&](NodeIndex n) { members.push_back(n); });
  return members;
}

TEST(NodeSet, HoldsWhatWasPutIn) {
  NodeSet set(130);
  EXPECT_EQ(set.Capacity(), 130u);
  EXPECT_EQ(set.Words().size(), 3u);
  EXPECT_TRUE(set.Empty());
  for (const NodeIndex n : {129u, 0u, 63u, 64u}) set.Insert(n);
  EXPECT_EQ(Members(set), (std::vector<NodeIndex>{0, 63, 64, 129}));
  EXPECT_EQ(set.Count(), 4u);
  EXPECT_FALSE(set.Empty());
  EXPECT_TRUE(set.Contains(63));
  EXPECT_FALSE(set.Contains(62));
  set.Erase(63);
  set.Set(64, false);
  set.Set(1, true);
  EXPECT_EQ(Members(set), (std::vector<NodeIndex>{0, 1, 129}));
  set.Clear();
  EXPECT_TRUE(set.Empty());
  EXPECT_EQ(set.Capacity(), 130u);
}

TEST(NodeSet, ShrinkingDropsRowsSoThatGrowingAddsAbsentOnes) {
  NodeSet set(128);
  for (NodeIndex n = 0; n < 128; ++n) set.Insert(n);
  set.Resize(70);
  EXPECT_EQ(set.Count(), 70u);
  set.Resize(128);
  EXPECT_EQ(set.Count(), 70u) << "what was dropped within a word stays dropped";
  set.Resize(64);
  EXPECT_EQ(set.Count(), 64u) << "a whole word is kept whole";
  set.Resize(0);
  EXPECT_TRUE(set.Empty());
  EXPECT_EQ(set, NodeSet());
}

TEST(NodeSet, IntersectionAndEquality) {
  NodeSet a(100);
  NodeSet b(100);
  for (NodeIndex n = 0; n < 100; n += 2) a.Insert(n);
  for (NodeIndex n = 0; n < 100; n += 3) b.Insert(n);
  a.IntersectWith(b);
  NodeSet both(100);
  for (NodeIndex n = 0; n < 100; n += 6) both.Insert(n);
  EXPECT_EQ(a, both);
  EXPECT_NE(a, b);
}

TEST(NodeSet, NthAgreesWithASortedSetOnRandomMembers) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const size_t capacity = 1 + random() % 300;
    NodeSet set(capacity);
    std::set<NodeIndex> model;
    for (size_t i = 0; i < capacity; ++i) {
      const auto n = static_cast<NodeIndex>(random() % capacity);
      if (random() % 3 != 0) {
        set.Insert(n);
        model.insert(n);
      } else {
        set.Erase(n);
        model.erase(n);
      }
    }
    EXPECT_EQ(Members(set), std::vector<NodeIndex>(model.begin(), model.end()));
    EXPECT_EQ(set.Count(), model.size());
    size_t rank = 0;
    for (const NodeIndex n : model) EXPECT_EQ(set.Nth(rank++), n);
  }
}

}  // namespace
}  // namespace berth::cluster

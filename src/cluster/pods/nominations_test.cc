#include "cluster/pods/nominations.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

TEST(Nominations, OneNodePerPodManyPodsPerNode) {
  Nominations nominations;
  EXPECT_TRUE(nominations.Empty());
  EXPECT_EQ(nominations.On(7), nullptr);
  nominations.Set(1, 7);
  nominations.Set(2, 7);
  nominations.Set(3, 8);
  EXPECT_EQ(*nominations.On(7), (std::vector<PodId>{1, 2})) << "in order of nomination";
  EXPECT_EQ(nominations.NodeOf(3), 8u);
  nominations.Set(1, 8);
  EXPECT_EQ(*nominations.On(7), (std::vector<PodId>{2})) << "a later nomination replaces";
  EXPECT_EQ(*nominations.On(8), (std::vector<PodId>{3, 1}));
  nominations.Set(3, 8);
  EXPECT_EQ(*nominations.On(8), (std::vector<PodId>{1, 3})) << "the same again goes to the end";
  std::map<StringId, size_t> seen;
  nominations.ForEachNode([&](StringId node, const auto& pods) { seen[node] = pods.size(); });
  EXPECT_EQ(seen, (std::map<StringId, size_t>{{7, 1}, {8, 2}}));
  for (const PodId pod : {1u, 2u, 3u, 4u}) nominations.Clear(pod);
  EXPECT_TRUE(nominations.Empty());
  EXPECT_EQ(nominations.On(8), nullptr);
  EXPECT_EQ(nominations.NodeOf(1), kNoString);
}

}  // namespace
}  // namespace berth::cluster

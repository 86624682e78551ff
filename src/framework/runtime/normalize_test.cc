#include "framework/runtime/normalize.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

TEST(DefaultNormalize, ScalesToTheLargest) {
  struct Case {
    const char* what;
    std::vector<int64_t> raw;
    bool reverse;
    std::vector<int64_t> want;
  };
  const Case cases[] = {
      {"the largest becomes 100", {0, 5, 10}, false, {0, 50, 100}},
      {"reversed, it becomes 0", {0, 5, 10}, true, {100, 50, 0}},
      {"rounded down", {1, 3}, false, {33, 100}},
      {"rounded down before it is reversed", {1, 3}, true, {67, 0}},
      {"all zero stay zero", {0, 0}, false, {0, 0}},
      {"all zero, reversed, become 100", {0, 0}, true, {100, 100}},
      {"nothing above zero is left alone", {-5, 0}, false, {-5, 0}},
      {"a difference beyond 64 bits wraps",
       {-92233720368547758, 1},
       true,
       {-9223372036854775716, 0}},
      {"a product beyond 64 bits wraps", {INT64_MAX, 1}, false, {0, 0}},
  };
  for (const Case& c : cases) {
    NodeSet feasible(c.raw.size());
    ScoreColumn column;
    int64_t* scores = column.MakeDense(64);
    for (size_t i = 0; i < c.raw.size(); ++i) {
      feasible.Insert(static_cast<NodeIndex>(i));
      scores[i] = c.raw[i];
    }
    DefaultNormalize(feasible, c.reverse, column);
    for (size_t i = 0; i < c.want.size(); ++i) {
      EXPECT_EQ(column.Get(static_cast<NodeIndex>(i)), c.want[i]) << c.what << ", node " << i;
    }
  }
}

TEST(DefaultNormalize, OneScoreForAllIsScaledAsIfItStoodThereManyTimes) {
  for (const bool reverse : {false, true}) {
    for (const int64_t raw : {0, 7}) {
      NodeSet feasible(3);
      feasible.Insert(1);
      ScoreColumn uniform;
      uniform.SetUniform(raw);
      ScoreColumn dense;
      dense.MakeDense(64)[1] = raw;
      DefaultNormalize(feasible, reverse, uniform);
      DefaultNormalize(feasible, reverse, dense);
      EXPECT_EQ(uniform.Get(1), dense.Get(1)) << raw << (reverse ? " reversed" : "");
    }
  }
}

TEST(DefaultNormalize, LooksAtFeasibleNodesOnly) {
  NodeSet feasible(3);
  feasible.Insert(0);
  ScoreColumn column;
  int64_t* scores = column.MakeDense(64);
  scores[0] = 10;
  scores[1] = 1000;
  DefaultNormalize(feasible, false, column);
  EXPECT_EQ(column.Get(0), 100);
  EXPECT_EQ(column.Get(1), 1000) << "what nobody asks about is not touched";
}

}  // namespace
}  // namespace berth::framework

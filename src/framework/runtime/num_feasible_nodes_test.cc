#include "framework/runtime/num_feasible_nodes.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

TEST(NumFeasibleNodesToFind, Rules) {
  struct Case {
    const char* name;
    int32_t percentage;
    int32_t nodes;
    int32_t want;
  };
  const std::vector<Case> cases = {
      {"small clusters are searched whole", 1, 99, 99},
      {"no nodes", 0, 0, 0},
      {"at least a hundred", 1, 5000, 100},
      {"adaptive", 0, 1000, 420},
      {"adaptive in a large cluster", 0, 10000, 500},
      {"a share", 30, 1000, 300},
      {"all", 100, 1000, 1000},
      {"the product wraps", 100, 42949673, 100},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(NumFeasibleNodesToFind(c.percentage, c.nodes), c.want) << c.name;
  }
}

}  // namespace
}  // namespace berth::framework

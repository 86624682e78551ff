#include "framework/runtime/num_feasible_nodes.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

TEST(NumFeasibleNodesToFind, Rules) {
  struct Case {
    const char* name;
    std::optional<int32_t> profile;
    int32_t global;
    int32_t nodes;
    int32_t want;
  };
  const std::vector<Case> cases = {
      {"small clusters are searched whole", 1, 1, 99, 99},
      {"no nodes", {}, 0, 0, 0},
      {"at least a hundred", 1, 0, 5000, 100},
      {"adaptive", {}, 0, 1000, 420},
      {"adaptive in a large cluster", {}, 0, 10000, 500},
      {"the profile counts first", 50, 10, 1000, 500},
      {"then the global percentage", {}, 30, 1000, 300},
      {"a profile of zero adapts", 0, 30, 1000, 420},
      {"all", 100, 0, 1000, 1000},
      {"the product wraps", 100, 0, 42949673, 100},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(NumFeasibleNodesToFind(c.profile, c.global, c.nodes), c.want) << c.name;
  }
}

}  // namespace
}  // namespace berth::framework

#include "plugins/priority_sort/priority_sort.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::plugins::priority_sort {
namespace {

TEST(PrioritySort, ByPriorityThenByTimeInTheQueue) {
  struct Case {
    const char* what;
    int32_t priority_a;
    int64_t queued_a;
    int32_t priority_b;
    int64_t queued_b;
    bool less;
  };
  const Case cases[] = {
      {"the higher priority goes first, however late", 10, 99, 5, 1, true},
      {"the lower one does not", 5, 1, 10, 99, false},
      {"below zero is lower than none", 0, 9, -5, 1, true},
      {"of equals the one that waits longer", 5, 1, 5, 2, true},
      {"and not the other", 5, 2, 5, 1, false},
      {"neither of two that came together", 5, 1, 5, 1, false},
  };
  const PrioritySort plugin;
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    const auto a = cluster.AddPod(cluster::MakePod("a").Priority(c.priority_a));
    const auto b = cluster.AddPod(cluster::MakePod("b").Priority(c.priority_b));
    EXPECT_EQ(plugin.Less(cluster, cluster.GetPod(a), c.queued_a, cluster.GetPod(b), c.queued_b),
              c.less)
        << c.what;
  }
}

}  // namespace
}  // namespace berth::plugins::priority_sort

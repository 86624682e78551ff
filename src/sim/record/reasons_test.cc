#include "sim/record/reasons.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

TEST(ReasonsIn, LeavesOutNumbersOfNodes) {
  struct Row {
    const char* what;
    const char* message;
    std::vector<std::string> reasons;
  };
  const Row rows[] = {
      {"two reasons and a word on preemption",
       "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: 0/4 "
       "nodes are available: 4 No preemption victims found for incoming pod.",
       {"Insufficient cpu", "node(s) were unschedulable"}},
      {"a full stop inside a name",
       "0/1 nodes are available: 1 Insufficient example.com/gpu. no new claims to deallocate, "
       "preemption: not eligible.",
       {"Insufficient example.com/gpu"}},
      {"a comma inside a reason",
       "0/2 nodes are available: 2 node(s) had taint {a: b}, that the pod didn't tolerate.",
       {"node(s) had taint {a: b}, that the pod didn't tolerate"}},
      {"no nodes", "no nodes available to schedule pods", {"no nodes available to schedule pods"}},
      {"nothing", "", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(ReasonsIn(row.message), row.reasons) << row.what;
}

}  // namespace
}  // namespace berth::sim

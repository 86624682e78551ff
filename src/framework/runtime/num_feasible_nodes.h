// How many feasible nodes end the search of a scheduling cycle.
#pragma once

#include <cstdint>

namespace berth::framework {

inline constexpr int32_t kMinFeasibleNodesToFind = 100;
inline constexpr int32_t kMinFeasibleNodesPercentage = 5;

// A percentage of 0 adapts to the size of the cluster: 50% less one per 125
// nodes, at least 5%. Never fewer than 100 nodes. Wraps as kube-scheduler's 32
// bits do.
int32_t NumFeasibleNodesToFind(int32_t percentage, int32_t all_nodes);

}  // namespace berth::framework

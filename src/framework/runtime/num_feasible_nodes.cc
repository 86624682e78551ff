#include "framework/runtime/num_feasible_nodes.h"

#include <algorithm>

namespace berth::framework {

int32_t NumFeasibleNodesToFind(int32_t percentage, int32_t all_nodes) {
  if (all_nodes < kMinFeasibleNodesToFind) return all_nodes;
  if (percentage == 0) percentage = std::max(50 - all_nodes / 125, kMinFeasibleNodesPercentage);
  const auto product =
      static_cast<int32_t>(static_cast<uint32_t>(all_nodes) * static_cast<uint32_t>(percentage));
  return std::max(product / 100, kMinFeasibleNodesToFind);
}

}  // namespace berth::framework

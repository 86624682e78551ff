// Scores of one node by the NUMA cells of its topology, for Guaranteed pods.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "plugins/node_resource_topology/node_topology.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {

enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kBalanced, kLeastNumaNodes };

// By resource; what is not there, or below 1, weighs 1.
using Weights = std::map<std::string, int64_t, std::less<>>;

// The score of a cell: what is asked for of what is available. A container that asks for nothing
// scores 0, where the original divides by zero.
int64_t CellScore(Strategy strategy, const Needs& needs, const Quantities& available,
                  const Weights& weights);

// The lowest score of a cell that is not 0; of several containers the mean. 0 unless the policy is
// single-numa-node.
int64_t ScoreByCells(Strategy strategy, const PodNeeds& pod, const NodeTopology& topology,
                     const Weights& weights);

// The fewer cells are needed the better, and better still if no others are closer together. Nodes
// with more than kMostCombined cells score 0: the combinations to try double with each.
inline constexpr size_t kMostCombined = 16;
int64_t ScoreByNumber(const PodNeeds& pod, const NodeTopology& topology);

}  // namespace berth::plugins::node_resource_topology

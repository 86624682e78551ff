// Allocation scores: how full a node would be with the pod, resource by resource.
//
// Each strategy exists twice: as a rule for one node in plain integers, the definition, and as a
// kernel over 64 nodes that computes the same numbers faster. The kernel computes with doubles
// where all amounts are small enough for that to be exact, and falls back to the rule where they
// are not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "cluster/cluster.h"
#include "config/plugin_args.h"
#include "framework/points/batch.h"
#include "plugins/common/utilization_scores.h"

namespace berth::plugins::node_resources {

enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

// One resource that counts for the score of one pod.
struct ScoredResource {
  const int64_t* allocatable = nullptr;  // by row
  const int64_t* used = nullptr;         // by row, without the pod
  int64_t request = 0;                   // of the pod
  int64_t weight = 1;
  cluster::ResourceId id = cluster::kCpu;
};

// The resources a configuration wants scored, by id.
struct ScoredSpec {
  cluster::ResourceId id;
  int64_t weight;
};
std::vector<ScoredSpec> ResolveSpecs(const cluster::Cluster& cluster,
                                     const std::vector<config::ResourceSpec>& specs);

// Collects the scored resources: those nodes can have, and scalar resources only if the pod
// requests them. `nonzero`: cpu and memory use the defaults for containers without requests.
// `requests` are the pod's.
void CollectResources(const cluster::Cluster& cluster, const std::vector<ScoredSpec>& specs,
                      const cluster::Amounts& requests, bool nonzero,
                      std::vector<ScoredResource>* out);

// The rules for one node.
int64_t LeastAllocatedScore(const std::vector<ScoredResource>& resources, cluster::NodeIndex n);
int64_t MostAllocatedScore(const std::vector<ScoredResource>& resources, cluster::NodeIndex n);
int64_t RatioScore(const std::vector<ScoredResource>& resources, const UtilizationScores& shape,
                   cluster::NodeIndex n);
int64_t BalancedScore(const std::vector<ScoredResource>& resources, cluster::NodeIndex n);

// MostAllocatedScore of `nodes` taken together, where pods that ask for `wanted` of a resource are
// added. Cpu and memory count as with `nonzero` above.
int64_t MostAllocatedOf(const cluster::Cluster& cluster, const std::vector<ScoredSpec>& specs,
                        const framework::NodeSet& nodes,
                        FunctionRef<int64_t(cluster::ResourceId)> wanted);

// How the pod changes the balance: 100 if it makes the node even, 50 if it unsettles it, about 75
// if nothing changes. `without` are the same resources without the pod's requests.
int64_t BalanceChangeScore(const std::vector<ScoredResource>& resources,
                           const std::vector<ScoredResource>& without, cluster::NodeIndex n);

// The kernels: scores of all nodes of a batch.
void ScoreLeastAllocated(const std::vector<ScoredResource>& resources,
                         framework::ScoreBatch& batch);
void ScoreMostAllocated(const std::vector<ScoredResource>& resources, framework::ScoreBatch& batch);
void ScoreRatio(const std::vector<ScoredResource>& resources, const UtilizationScores& shape,
                framework::ScoreBatch& batch);
void ScoreBalanced(const std::vector<ScoredResource>& resources, framework::ScoreBatch& batch);
void ScoreBalanceChange(const std::vector<ScoredResource>& resources,
                        const std::vector<ScoredResource>& without, framework::ScoreBatch& batch);

}  // namespace berth::plugins::node_resources

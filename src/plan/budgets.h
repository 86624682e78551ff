// Budgets: how many evictions the PodDisruptionBudgets of a cluster allow while a plan goes on.
//
// An eviction uses up one disruption of the budget that covers the pod; it is given back when the
// pod's replacement has a node. As the eviction API does, a pod covered by two budgets is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/rules/label_selector.h"
#include "base/string_hash.h"
#include "cluster/cluster.h"

namespace berth::plan {

struct Budget {
  std::string namespace_;
  std::string name;
  api::Selector selector;
  int32_t allowed = 0;  // disruptions left now
  int32_t healthy = 0;  // pods it counts as healthy before the plan
  int32_t desired = 0;  // healthy pods it insists on
  int64_t refused = 0;  // evictions it refused
};

class Budgets {
 public:
  // Budgets with a status are taken by it. Without one (a manifest that no API server has seen) the
  // pods with a node are counted as healthy.
  explicit Budgets(const cluster::Cluster& cluster);

  // Whether the pod may be evicted now; uses up one disruption if so. Otherwise `why` says which
  // budget refuses, and what would make it agree.
  bool Take(const cluster::Pod& pod, std::string* why);
  // Whether any budget covers the pod, or `none_left`: one that allows no disruption now.
  bool Covers(const cluster::Pod& pod, bool* none_left);
  // The pod's replacement has a node.
  void Return(const cluster::Pod& pod);

  // Back to what was allowed at first.
  void Reset();

  const std::vector<Budget>& All() const { return budgets_; }

 private:
  const std::vector<uint32_t>& Covering(const cluster::Pod& pod);

  std::vector<Budget> budgets_;
  ByString<std::vector<uint32_t>> of_namespace_;
  // By the serial of a shape, whose labels never change.
  boost::unordered_flat_map<uint64_t, std::vector<uint32_t>> covering_;
  std::vector<int32_t> first_;  // allowed at first
};

}  // namespace berth::plan

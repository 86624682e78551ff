// Consolidation: which nodes can be given up so that every pod still has a place.
//
// A set of nodes can go when, with all of them cordoned, the scheduler itself places every one of
// their pods elsewhere, nothing is preempted, no PodDisruptionBudget refuses, no gang falls below
// its minimum and no pod is lost. The search is for the set that is worth most: each node is worth
// its value less what the disruption of its pods costs. It is anytime (it keeps the best set found
// so far), deterministic by seed, and every set is tried in a transaction of the cluster that the
// plan is then made on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

struct ConsolidateOptions {
  std::vector<std::string> candidates;  // nodes that may go
  int64_t max_moves = INT64_MAX;        // pods that may be evicted in all
  bool lose_local_data = false;         // pods with local storage may be evicted
  // What a node is worth when it is free. Empty: 1 each.
  std::function<double(const api::Node&)> value;
  // What the eviction of an ordinary pod costs, in the unit of `value`; others cost more
  // (plan/disruption.h). A node that is worth no more than its evictions stays.
  double eviction_cost = 0;
  uint64_t seed = 0;  // of the order in which sets are tried
  // Pods placed in trials after which the search ends with the best set so far. Changes results.
  uint64_t max_placements = 800'000;
  // Whether to go on searching; called between trials with the number made. Empty: until nothing
  // better is found.
  std::function<bool(size_t trials)> go_on;
};

// The nodes of the best set, and where their pods go. With none the plan is empty.
Plan PlanConsolidation(Inventory& inventory, Mover& mover, const ConsolidateOptions& options);

}  // namespace berth::plan

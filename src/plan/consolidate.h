// Consolidation: which nodes can be given up so that every pod still has a place.
//
// A set of nodes can go when, with all of them cordoned, the scheduler itself places every one of
// their pods elsewhere, nothing is preempted, no PodDisruptionBudget refuses and no pod is lost.
// The search is for a set that is worth most. It is anytime (it keeps the best set found so far),
// deterministic by seed, and every set is tried in a transaction of the cluster that the plan is
// then made on.
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
  uint64_t seed = 0;                    // of the order in which sets are tried
  // Whether to go on searching; called between trials with the number made. Empty: until nothing
  // better is found.
  std::function<bool(size_t trials)> go_on;
};

// The nodes of the best set, and where their pods go. With none the plan is empty.
Plan PlanConsolidation(Inventory& inventory, Mover& mover, const ConsolidateOptions& options);

}  // namespace berth::plan

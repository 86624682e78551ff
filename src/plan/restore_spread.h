// Restoring spread: which pods to evict so that topology spread constraints hold again.
//
// The scheduler keeps spread constraints when it places a pod, and nobody does afterwards: nodes
// come back empty, Deployments shrink. What is wrong with a constraint is its excess: the pods that
// are in a domain beyond the emptiest domain and maxSkew. A pod is evicted only if the scheduler,
// asked at once, puts its replacement where the excess of all constraints together is smaller.
#pragma once

#include <cstddef>
#include <functional>

#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

struct RestoreSpreadOptions {
  bool soft = false;              // constraints with ScheduleAnyway too
  int64_t max_moves = INT64_MAX;  // pods that may be evicted in all
  bool lose_local_data = false;   // pods with local storage may be evicted
  // Whether to go on searching; called between trials with the number made. Empty: until nothing
  // better is found.
  std::function<bool(size_t trials)> go_on;
};

// Moves pods one by one until no move lowers the excess: the same question about the predicted
// cluster finds nothing to do. Pods are chosen from overfull domains: the least important first,
// then by deletion cost, the youngest, and by name.
Plan PlanRestoreSpread(Inventory& inventory, Mover& mover, const RestoreSpreadOptions& options);

}  // namespace berth::plan

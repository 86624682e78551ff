// Plans that add nodes: grow and fit for pods that wait, upgrade for nodes that are replaced.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

// Adds `count` nodes like `model`, then schedules the pending pods.
Plan PlanGrow(Inventory& inventory, Mover& mover, const api::Node& model, size_t count);

// Schedules the pending pods without preempting any. Whenever one fits nowhere, a node like `model`
// is added for it and those that follow, up to `limit` nodes. A pod that does not fit on an empty
// one either is homeless.
Plan PlanFit(Inventory& inventory, Mover& mover, const api::Node& model, size_t limit);

// Replaces `nodes` by new ones like them, `surge` at a time: that many are added, as many old ones
// are drained and removed. REQUIRES: surge > 0, the nodes exist.
Plan PlanUpgrade(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes,
                 size_t surge);

}  // namespace berth::plan

// Plans that empty nodes: drain and shrink, which evict pods one by one, and outage, where nodes
// vanish with everything on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/budgets.h"
#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

// Cordons all `nodes`, then evicts their pods node by node: important pods first, then by
// namespace and name. A pod is evicted when its budget allows it, and its replacement is scheduled
// before the next one goes. REQUIRES: the nodes exist.
Plan PlanDrain(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes);

// The same for nodes that are cordoned already. It changes the places of pods only, so that it can
// be tried in a cluster::Transaction. Mover::Forget or Keep follows.
Plan TryDrain(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes);

// The nodes vanish at once: nothing is asked, and their pods are scheduled elsewhere in the order
// of the queue.
Plan PlanOutage(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes);

// Chooses `count` of `candidates` whose drain disturbs least, and drains them.
Plan PlanShrink(Inventory& inventory, Mover& mover, const std::vector<std::string>& candidates,
                size_t count);

// Pods of a node in the order in which a drain evicts them, without those that are going already.
std::vector<cluster::PodId> EvictionOrder(const cluster::Cluster& cluster, cluster::NodeIndex node);

}  // namespace berth::plan

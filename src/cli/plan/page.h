// A plan as a page of its own: figures, a map of the nodes before and after, and tables.
#pragma once

#include <string>
#include <vector>

#include "plan/node_map.h"
#include "plan/plan.h"

namespace berth::cli {

// `nodes` are in the order of plan::NodeMap.
std::string PlanPage(const plan::Plan& plan, const std::vector<plan::NodeUse>& nodes);

}  // namespace berth::cli

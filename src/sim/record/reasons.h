// The reasons in a FailedScheduling message, without the numbers of nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::sim {

// "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: …" gives
// "node(s) were unschedulable" and "Insufficient cpu"; a message of another form is its own reason.
std::vector<std::string> ReasonsIn(std::string_view message);

}  // namespace berth::sim

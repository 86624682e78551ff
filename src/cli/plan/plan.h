// berth plan: what happens to the pods of a cluster if nodes are drained, lost, replaced or added.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Exit code: 0 every pod has a place, 2 some have none or may not move, 1 bad input.
int Plan(const std::vector<std::string>& args);

}  // namespace berth::cli

// berth plan: what happens to the pods of a cluster if nodes are drained, lost, replaced or added.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Exit code: 0 every pod has a place, 1 some have none or may not move, 2 bad flags or input.
int Plan(const std::vector<std::string>& args);

}  // namespace berth::cli

// berth simulate: where would the pending pods of this cluster go, and why?
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Exit code: 0 all placed, 2 some are not, 1 bad input or flags.
int Simulate(const std::vector<std::string>& args);

}  // namespace berth::cli

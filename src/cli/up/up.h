// `berth up`: a cluster to play with, in one process: API server, simulated nodes, controllers and
// the scheduler.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

int Up(const std::vector<std::string>& args);

}  // namespace berth::cli

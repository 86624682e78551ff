// `berth scheduler`: kube-scheduler's place in a cluster.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Returns the exit code. `args` are those after the command's name.
int Scheduler(const std::vector<std::string>& args);

}  // namespace berth::cli

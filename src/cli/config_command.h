// `berth config`: looks at KubeSchedulerConfiguration files without running them.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Returns the exit code.
int Config(const std::vector<std::string>& args);

}  // namespace berth::cli

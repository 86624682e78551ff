// `berth shadow`: follows another scheduler of a cluster, decides about every pod too, and
// compares.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

int Shadow(const std::vector<std::string>& args);

}  // namespace berth::cli

// berth status: the replicas that share a scheduler's work, read from their Leases.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

int Status(const std::vector<std::string>& args);

}  // namespace berth::cli

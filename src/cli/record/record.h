// berth record: records what the scheduler of a cluster sees and decides, without scheduling.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Exit code: 0 stopped by a signal or --duration, 1 the recording ended before its time, 2 bad
// flags or no cluster.
int Record(const std::vector<std::string>& args);

}  // namespace berth::cli

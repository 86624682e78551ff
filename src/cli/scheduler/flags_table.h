// The list of all flags. Private to the scheduler command.
#pragma once

#include <vector>

#include "cli/scheduler/flags.h"

namespace berth::cli::scheduler {

// Appends every flag, bound to its place in `values`, which must outlive them and not move.
void AddAllFlags(FlagValues& values, std::vector<Flag>& flags);

}  // namespace berth::cli::scheduler

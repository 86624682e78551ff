// The usage text of the scheduler command, laid out as kube-scheduler's.
#pragma once

#include <string>

#include "cli/scheduler/flags.h"

namespace berth::cli::scheduler {

// "Usage:" and the flags by section.
std::string UsageText(const Flags& flags);
// The same with a few words in front, for --help.
std::string HelpText(const Flags& flags);

}  // namespace berth::cli::scheduler

// Flags of a command that takes the scheduler's too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "term/flags.h"

namespace berth::cli {

// A value such as 90s or 10m, in nanoseconds, within the bounds.
std::function<Result<void>(const std::string&)> DurationInto(int64_t low, int64_t high,
                                                             int64_t* out);
// --duration TIME.
void AddDuration(term::Flags& flags, int64_t* out);

// Parses the flags of `names` ("--duration", "-o"), --help and -h; returns the other arguments.
Result<std::vector<std::string>> ParseOwn(term::Flags& flags,
                                          const std::vector<std::string_view>& names,
                                          const std::vector<std::string>& args);

}  // namespace berth::cli

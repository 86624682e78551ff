// Flags of `berth shadow`: a few of its own, and all of the scheduler's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/scheduler/flags.h"

namespace berth::cli {

enum class FailOn : uint8_t { kUnexplained, kRace, kNever };

struct ShadowFlags {
  int64_t duration_ns = 0;  // 0: until a signal comes
  int64_t lag_ns = 5'000'000'000;
  FailOn fail_on = FailOn::kUnexplained;
  std::string output = "text";
  std::string report;  // file; by its ending Markdown or JSON
  bool help = false;
  std::vector<std::string> rest;  // the scheduler's
};

// The names of errors are those of the flags.
Result<ShadowFlags> ParseShadowFlags(const std::vector<std::string>& args);
std::string ShadowHelp();

}  // namespace berth::cli

// The comparison of configurations over a trace, as text and as one HTML page with charts. Equal
// curves give equal output.
#pragma once

#include <span>
#include <string>

#include "sim/trace/inflation.h"

namespace berth::cli {

inline constexpr size_t kMaxCurves = 6;  // as there are colours

struct TraceSummary {
  std::string trace;  // names of the files
  size_t nodes = 0;
  size_t pods = 0;
  int64_t runs = 1;
};

// A line per configuration.
std::string TraceText(std::span<const sim::LoadCurve> curves);
std::string TracePage(std::span<const sim::LoadCurve> curves, const TraceSummary& summary);

}  // namespace berth::cli

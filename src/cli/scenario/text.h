// A scenario's report as text of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "sim/record/scenario_report.h"

namespace berth::cli {

struct ScenarioTextOptions {
  bool colour = false;
  double seconds = 0;  // the run took; 0: not said
};

std::string ScenarioText(const sim::ScenarioReport& report, const ScenarioTextOptions& options);

// `values` in `width` blocks of a height from 1 to 8, 8 being `top`. A block shows the largest
// of its values.
std::string Sparkline(const std::vector<double>& values, size_t width, double top);

}  // namespace berth::cli

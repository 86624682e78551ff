// A scenario's report as one HTML page: charts, tables, nothing loaded from elsewhere. Light or
// dark as the reader's system is. Equal reports give equal pages.
#pragma once

#include <string>

#include "sim/record/scenario_report.h"

namespace berth::cli {

std::string ScenarioPage(const sim::ScenarioReport& report, const std::string& title);

}  // namespace berth::cli

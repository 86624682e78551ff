// A simulation report as text for people.
#pragma once

#include <string>

#include "sim/report.h"

namespace berth::cli {

struct ReportTextOptions {
  bool wide = false;     // scores of every plugin for the chosen node
  bool summary = false;  // a line per workload instead of one per pod
  bool colour = false;
  double seconds = 0;  // how long scheduling took; 0 says nothing about it
};

std::string ReportText(const sim::Report& report, const ReportTextOptions& options);

}  // namespace berth::cli

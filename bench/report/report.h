// Report: what `berth-bench --json` printed, as Markdown tables and charts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/schema.h"
#include "base/error.h"

namespace berth::bench {

// The fields of a line that the report uses.
struct ReportLine {
  std::string workload;
  int64_t nodes = 0;
  int64_t pods = 0;
  double pods_per_second = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  int64_t failed = 0;
  int64_t peak_rss_bytes = 0;
  static const api::TypeInfo& Type();
};

// Errors name the line. Of lines with equal workload and nodes the last one counts.
Result<std::vector<ReportLine>> ParseReport(std::string_view text);

struct ReportChart {
  std::string file;  // name without folder
  std::string title;
  std::string svg;
};
// Pods per second and microseconds per pod against nodes: workloads of affinity, and the others.
std::vector<ReportChart> DrawReport(const std::vector<ReportLine>& lines);

// One table of medians per workload and number of nodes, one with everything.
std::string ReportTables(const std::vector<ReportLine>& lines);

// Writes the charts into `folder` and gives the Markdown that shows them and the tables.
Result<std::string> WriteReport(const std::vector<ReportLine>& lines, const std::string& folder);

}  // namespace berth::bench

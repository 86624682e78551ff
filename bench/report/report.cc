#include "bench/report/report.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "bench/report/log_chart.h"

namespace berth::bench {

const api::TypeInfo& ReportLine::Type() {
  static const api::TypeInfo type = api::Describe<ReportLine>("line")
                                        .Field(0, "workload", &ReportLine::workload)
                                        .Field(0, "nodes", &ReportLine::nodes)
                                        .Field(0, "pods", &ReportLine::pods)
                                        .Field(0, "pods_per_second", &ReportLine::pods_per_second)
                                        .Field(0, "mean_us", &ReportLine::mean_us)
                                        .Field(0, "p50_us", &ReportLine::p50_us)
                                        .Field(0, "p99_us", &ReportLine::p99_us)
                                        .Field(0, "failed", &ReportLine::failed)
                                        .Field(0, "peak_rss_bytes", &ReportLine::peak_rss_bytes)
                                        .Build();
  return type;
}

namespace {

bool IsAffinity(const std::string& workload) {
  return workload.find("affinity") != std::string::npos;
}

// In order of first appearance.
std::vector<std::string> WorkloadsOf(const std::vector<ReportLine>& lines) {
  std::vector<std::string> names;
  for (const ReportLine& line : lines) {
    if (std::find(names.begin(), names.end(), line.workload) == names.end()) {
      names.push_back(line.workload);
    }
  }
  return names;
}

LogChart ChartOf(const std::vector<ReportLine>& lines, bool affinity, bool speed) {
  LogChart chart;
  chart.x_title = "nodes";
  chart.y_title = speed ? "pods per second" : "µs per pod, median";
  for (const std::string& name : WorkloadsOf(lines)) {
    if (IsAffinity(name) != affinity) continue;
    LogChart::Line& drawn = chart.lines.emplace_back();
    drawn.label = name;
    for (const ReportLine& line : lines) {
      if (line.workload != name) continue;
      drawn.points.emplace_back(static_cast<double>(line.nodes),
                                speed ? line.pods_per_second : line.p50_us);
    }
    std::sort(drawn.points.begin(), drawn.points.end());
  }
  return chart;
}

// 1234567 as 1,234,567.
std::string Grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string Micros(double us) { return us < 100 ? fmt::format("{:.1f}", us) : Grouped(us); }

}  // namespace

Result<std::vector<ReportLine>> ParseReport(std::string_view text) {
  std::vector<ReportLine> lines;
  std::map<std::pair<std::string, int64_t>, size_t> places;
  api::JsonDecoder decoder;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view json = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (json.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto line = decoder.Decode<ReportLine>(json);
    if (!line) return Fail(line.error().In(fmt::format("line {}", number)));
    if (line->workload.empty() || line->nodes <= 0) {
      return Fail(fmt::format("line {}: not what berth-bench --json prints", number));
    }
    const auto [place, is_new] = places.try_emplace({line->workload, line->nodes}, lines.size());
    if (is_new) {
      lines.push_back(std::move(*line));
    } else {
      lines[place->second] = std::move(*line);
    }
  }
  return lines;
}

std::vector<ReportChart> DrawReport(const std::vector<ReportLine>& lines) {
  std::vector<ReportChart> charts;
  for (const bool speed : {true, false}) {
    for (const bool affinity : {false, true}) {
      LogChart chart = ChartOf(lines, affinity, speed);
      if (chart.lines.empty()) continue;
      chart.title = fmt::format("{} against nodes{}", speed ? "Pods per second" : "µs per pod",
                                affinity ? ": affinity" : "");
      charts.push_back({fmt::format("benchmarks-{}{}.svg", speed ? "speed" : "time",
                                    affinity ? "-affinity" : ""),
                        chart.title, DrawSvg(chart)});
    }
  }
  return charts;
}

std::string ReportTables(const std::vector<ReportLine>& lines) {
  std::set<int64_t> sizes;
  for (const ReportLine& line : lines) sizes.insert(line.nodes);
  std::string text = "Median µs per pod:\n\n| nodes |";
  std::string rule = "|---|";
  for (const int64_t size : sizes) {
    text += fmt::format(" {} |", Grouped(static_cast<double>(size)));
    rule += "---:|";
  }
  text += "\n" + rule + "\n";
  for (const std::string& name : WorkloadsOf(lines)) {
    text += fmt::format("| `{}` |", name);
    for (const int64_t size : sizes) {
      const auto it = std::find_if(lines.begin(), lines.end(), [&](const ReportLine& line) {
        return line.workload == name && line.nodes == size;
      });
      text += it == lines.end() ? " |" : fmt::format(" {} |", Micros(it->p50_us));
    }
    text += "\n";
  }
  text +=
      "\nEverything:\n\n| workload | nodes | pods | pods/s | mean µs | p50 µs | p99 µs | no node | "
      "peak MiB |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const std::string& name : WorkloadsOf(lines)) {
    for (const ReportLine& line : lines) {
      if (line.workload != name) continue;
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", name,
                          Grouped(static_cast<double>(line.nodes)),
                          Grouped(static_cast<double>(line.pods)), Grouped(line.pods_per_second),
                          Micros(line.mean_us), Micros(line.p50_us), Micros(line.p99_us),
                          Grouped(static_cast<double>(line.failed)),
                          Grouped(static_cast<double>(line.peak_rss_bytes) / (1 << 20)));
    }
  }
  return text;
}

Result<std::string> WriteReport(const std::vector<ReportLine>& lines, const std::string& folder) {
  std::string markdown;
  for (const ReportChart& chart : DrawReport(lines)) {
    const std::string path = folder + "/" + chart.file;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << chart.svg;
    out.close();
    if (!out) return Fail(path + ": cannot be written");
    markdown += fmt::format("![{}]({})\n\n", chart.title, chart.file);
  }
  return markdown + ReportTables(lines);
}

}  // namespace berth::bench

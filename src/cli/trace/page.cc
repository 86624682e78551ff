#include "cli/trace/page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/scenario/chart.h"
#include "cli/scenario/page_style.h"

namespace berth::cli {
namespace {

using sim::LoadCurve;
using sim::LoadPoint;

struct Column {
  const char* head;
  double LoadPoint::*value;
  double at;  // arrived load
};

constexpr Column kColumns[] = {
    {"GPUs allocated at 90 %", &LoadPoint::allocated, 90},
    {"at 95 %", &LoadPoint::allocated, 95},
    {"at 100 %", &LoadPoint::allocated, 100},
    {"at 130 %", &LoadPoint::allocated, 130},
    {"fragmented of free at 50 %", &LoadPoint::fragmented, 50},
    {"at 80 %", &LoadPoint::fragmented, 80},
    {"kW at 30 %", &LoadPoint::kilowatts, 30},
    {"at 50 %", &LoadPoint::kilowatts, 50},
    {"at 80 %", &LoadPoint::kilowatts, 80},
};

std::string Percent(double value) { return fmt::format("{:.4g} %", value); }

std::string Cell(const LoadCurve& curve, const Column& column) {
  if (curve.points.back().arrived < column.at - 1) return "-";
  return fmt::format("{:.2f}", curve.At(column.at).*column.value);
}

TimeChart ChartOf(std::span<const LoadCurve> curves, std::string title, std::string about,
                  const std::function<double(size_t curve, size_t point)>& value) {
  TimeChart chart;
  chart.title = std::move(title);
  chart.about = std::move(about);
  chart.percent = true;
  size_t count = curves[0].points.size();
  for (const LoadCurve& curve : curves) count = std::min(count, curve.points.size());
  for (size_t i = 0; i < count; ++i) chart.times.push_back(curves[0].points[i].arrived);
  for (size_t c = 0; c < curves.size(); ++c) {
    Series& series = chart.series.emplace_back();
    series.label = curves[c].profile;
    for (size_t i = 0; i < count; ++i) series.values.push_back(value(c, i));
  }
  chart.show = Percent;
  return chart;
}

std::string Charts(std::span<const LoadCurve> curves) {
  const auto of = [&](double LoadPoint::*member) {
    return [curves, member](size_t c, size_t i) { return curves[c].points[i].*member; };
  };
  const auto round = [](double value) { return fmt::format("{:.3g} %", value); };
  std::string text = "<div class=\"charts\">\n";
  TimeChart chart =
      ChartOf(curves, "Allocation ratio", "GPUs that pods have, percent of all, over arrived load",
              of(&LoadPoint::allocated));
  chart.top = 100;
  text += Draw(chart);
  chart =
      ChartOf(curves, "GPUs that stay free",
              "of those that were asked for, percent of all; arrived load above 100 % cannot be "
              "met",
              [&](size_t c, size_t i) {
                const LoadPoint& point = curves[c].points[i];
                return std::max(0.0, std::min(100.0, point.arrived) - point.allocated);
              });
  chart.show = round;
  text += Draw(chart);
  chart = ChartOf(curves, "Fragmentation",
                  "of free GPUs, percent that pods like those of the trace cannot use on average",
                  of(&LoadPoint::fragmented));
  chart.top = 100;
  text += Draw(chart);
  text += Draw(
      ChartOf(curves, "Fragments", "the same in percent of all GPUs", of(&LoadPoint::fragments)));
  chart =
      ChartOf(curves, "Power", "kilowatts of CPUs and GPUs, by the models of the trace's hardware",
              of(&LoadPoint::kilowatts));
  chart.show = [](double value) { return fmt::format("{:.5g}", value); };
  text += Draw(chart);
  chart = ChartOf(curves, "Power saved",
                  "percent less than " + curves[0].profile + "; 0 where it is more",
                  [&](size_t c, size_t i) {
                    const double base = curves[0].points[i].kilowatts;
                    if (!(base > 0)) return 0.0;
                    return std::max(0.0, 100 * (1 - curves[c].points[i].kilowatts / base));
                  });
  chart.show = round;
  text += Draw(chart);
  chart = ChartOf(
      curves, "Nodes with pods", "of all nodes of the trace that take part",
      [&](size_t c, size_t i) { return static_cast<double>(curves[c].points[i].busy_nodes); });
  chart.show = [](double value) { return fmt::format("{:.5g}", value); };
  text += Draw(chart);
  return text + "</div>\n";
}

std::string Table(std::span<const LoadCurve> curves) {
  std::string text =
      "<div class=\"card\"><h3>Percent of all GPUs, and kilowatts, at an arrived load</h3>"
      "<div class=\"scroll\"><table>\n<thead><tr><th class=\"t\">configuration</th>";
  for (const Column& column : kColumns) text += fmt::format("<th>{}</th>", column.head);
  text += "</tr></thead>\n<tbody>\n";
  for (const LoadCurve& curve : curves) {
    text += fmt::format("<tr><td class=\"t\">{}</td>", Escaped(curve.profile));
    for (const Column& column : kColumns) text += fmt::format("<td>{}</td>", Cell(curve, column));
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></div>\n";
}

}  // namespace

std::string TraceText(std::span<const LoadCurve> curves) {
  size_t width = 13;
  for (const LoadCurve& curve : curves) width = std::max(width, curve.profile.size());
  std::string text = fmt::format("{:<{}}", "CONFIGURATION", width);
  std::string group;
  for (const Column& column : kColumns) {
    const char* what = column.value == &LoadPoint::allocated    ? "ALLOC"
                       : column.value == &LoadPoint::fragmented ? "FRAG"
                                                                : "KW";
    text += fmt::format("  {:>9}", fmt::format("{}@{:g}", what, column.at));
  }
  text += "\n";
  for (const LoadCurve& curve : curves) {
    text += fmt::format("{:<{}}", curve.profile, width);
    for (const Column& column : kColumns) text += fmt::format("  {:>9}", Cell(curve, column));
    text += "\n";
  }
  return text;
}

std::string TracePage(std::span<const LoadCurve> curves, const TraceSummary& summary) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>{0}: berth simulate</title>\n<style>{1}</style>\n</head>\n<body>\n",
                      Escaped(summary.trace), kPageStyle);
  page += fmt::format(
      "<header><h1>How full the cluster gets</h1>\n<p class=\"lead\">{}: {} nodes, {} pods, which "
      "arrive in random order; more are drawn from them. The x axis is the load that has arrived, "
      "in percent of all GPUs. {}</p></header>\n",
      Escaped(summary.trace), summary.nodes, summary.pods,
      summary.runs > 1 ? fmt::format("Curves are means of {} runs.", summary.runs) : "");
  page += Charts(curves);
  page += "<h2>In numbers</h2>\n" + Table(curves);
  page += fmt::format("<footer>berth simulate, seed {}, hover over a chart for values</footer>\n",
                      curves[0].seed);
  return page + "</body>\n</html>\n";
}

}  // namespace berth::cli

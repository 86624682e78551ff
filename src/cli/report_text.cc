#include "cli/report_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using sim::PodReport;
using sim::Report;

std::string Grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// "demo/web-7" belongs to "demo/web".
std::string WorkloadOf(const PodReport& pod) {
  return fmt::format("{}/{}", pod.namespace_, pod.name.substr(0, pod.name.rfind('-')));
}

std::string Headline(const Report& report, const ReportTextOptions& o) {
  std::string line = fmt::format("{} nodes, {} pods: ", Grouped(report.nodes),
                                 Grouped(static_cast<int64_t>(report.pods.size())));
  line += term::Toned(Grouped(report.placed) + " placed", term::Tone::kGood, o.colour);
  const auto add = [&](int64_t count, std::string_view what, term::Tone tone) {
    if (count > 0)
      line += ", " + term::Toned(fmt::format("{} {}", Grouped(count), what), tone, o.colour);
  };
  add(report.unschedulable, "unschedulable", term::Tone::kBad);
  add(report.gated, "gated", term::Tone::kWarn);
  add(report.preempted, "preempted again", term::Tone::kWarn);
  add(report.foreign, "left to other schedulers", term::Tone::kDim);
  add(report.errors, "failed", term::Tone::kBad);
  if (o.seconds > 0 && !report.pods.empty()) {
    line += fmt::format(
        ", in {:.3f} s ({} pods/s)", o.seconds,
        Grouped(static_cast<int64_t>(static_cast<double>(report.pods.size()) / o.seconds)));
  }
  return line + "\n";
}

std::string Workloads(const Report& report, const ReportTextOptions& o) {
  struct Line {
    int64_t pods = 0;
    int64_t placed = 0;
    std::set<std::string_view> nodes;
  };
  std::map<std::string, Line> lines;
  for (const PodReport& pod : report.pods) {
    Line& line = lines[WorkloadOf(pod)];
    ++line.pods;
    if (pod.outcome != "Placed") continue;
    ++line.placed;
    line.nodes.insert(pod.node);
  }
  term::Table table({"WORKLOAD", "PODS", "PLACED", "NODES"});
  for (const size_t column : {1, 2, 3}) table.Right(column);
  for (const auto& [name, line] : lines) {
    table.Row({name, Grouped(line.pods), Grouped(line.placed),
               Grouped(static_cast<int64_t>(line.nodes.size()))});
  }
  return table.Text(o.colour);
}

// Names of the plugins that scored anything, in profile order.
std::vector<std::string> ScoringPlugins(const Report& report) {
  std::vector<std::string> names;
  for (const PodReport& pod : report.pods) {
    for (const sim::ScoreReport& score : pod.scores) {
      if (std::find(names.begin(), names.end(), score.plugin) == names.end()) {
        names.push_back(score.plugin);
      }
    }
  }
  return names;
}

std::string Pods(const Report& report, const ReportTextOptions& o) {
  const std::vector<std::string> plugins =
      o.wide ? ScoringPlugins(report) : std::vector<std::string>();
  std::vector<std::string> header{"NAMESPACE", "POD", "NODE", "SCORE", "FEASIBLE", "EQUAL"};
  header.insert(header.end(), plugins.begin(), plugins.end());
  term::Table table(header);
  for (size_t i = 3; i < header.size(); ++i) table.Right(i);
  for (const PodReport& pod : report.pods) {
    if (pod.outcome != "Placed") continue;
    std::vector<std::string> row{pod.namespace_,
                                 pod.name,
                                 pod.node,
                                 std::to_string(pod.score),
                                 std::to_string(pod.feasible_nodes),
                                 std::to_string(pod.equal_nodes)};
    for (const std::string& plugin : plugins) {
      const auto score = std::find_if(pod.scores.begin(), pod.scores.end(),
                                      [&](const auto& s) { return s.plugin == plugin; });
      row.push_back(score == pod.scores.end() ? "-" : std::to_string(score->weighted));
    }
    table.Row(std::move(row));
  }
  return table.Empty() ? "" : table.Text(o.colour);
}

// Pods that did not get a place; equal messages of one workload are shown once in a summary.
std::string NotPlaced(const Report& report, const ReportTextOptions& o) {
  std::string text;
  std::map<std::pair<std::string, std::string>, int64_t> seen;
  for (const PodReport& pod : report.pods) {
    if (pod.outcome == "Placed" || pod.outcome == "Foreign") continue;
    if (o.summary) {
      ++seen[{WorkloadOf(pod), pod.outcome + ": " + pod.message}];
      continue;
    }
    text += fmt::format(
        "{}  {}\n    {}\n",
        term::Toned(Visible(pod.namespace_ + "/" + pod.name), term::Tone::kBold, o.colour),
        term::Toned(pod.outcome, term::Tone::kBad, o.colour), Visible(pod.message));
  }
  for (const auto& [key, count] : seen) {
    text += fmt::format("{}  {} pods\n    {}\n",
                        term::Toned(Visible(key.first), term::Tone::kBold, o.colour),
                        Grouped(count), Visible(key.second));
  }
  return text;
}

std::string Preempted(const Report& report, const ReportTextOptions& o) {
  std::string text;
  for (const PodReport& pod : report.pods) {
    for (const std::string& victim : pod.preempted) {
      text += fmt::format("{} made room for {}\n",
                          term::Toned(Visible(victim), term::Tone::kWarn, o.colour),
                          Visible(pod.namespace_ + "/" + pod.name));
    }
  }
  return text;
}

std::string Utilization(const Report& report, const ReportTextOptions& o) {
  term::Table table({"RESOURCE", "ALLOCATABLE", "BEFORE", "", "AFTER", ""});
  for (const size_t column : {1, 2, 3, 4, 5}) table.Right(column);
  for (const sim::ResourceUse& use : report.utilization) {
    table.Row({use.resource, use.allocatable, use.before,
               fmt::format("{:.1f}%", use.before_percent), use.after,
               fmt::format("{:.1f}%", use.after_percent)});
  }
  return table.Empty() ? "" : table.Text(o.colour);
}

std::string FillText(const sim::FillReport& fill, const ReportTextOptions& o) {
  return fmt::format(
      "{}: {} more replicas fit, on {} nodes\n{}", Visible(fill.workload),
      term::Toned(Grouped(fill.replicas), term::Tone::kGood, o.colour), Grouped(fill.nodes_used),
      fill.stopped_by.empty() ? "" : "the next one: " + Visible(fill.stopped_by) + "\n");
}

}  // namespace

std::string ReportText(const Report& report, const ReportTextOptions& options) {
  std::string text = Headline(report, options);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(options.summary ? Workloads(report, options) : Pods(report, options));
  add(Preempted(report, options));
  add(NotPlaced(report, options));
  add(Utilization(report, options));
  if (report.fill) add(FillText(*report.fill, options));
  return text;
}

}  // namespace berth::cli

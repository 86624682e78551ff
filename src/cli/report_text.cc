#include "cli/report_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "cli/plugin_names.h"
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

// Without another node to choose there is nothing to score.
std::string ScoreText(const PodReport& pod) {
  return pod.score == 0 && pod.feasible_nodes <= 1 ? "-" : std::to_string(pod.score);
}

std::string Pods(const Report& report, const ReportTextOptions& o) {
  const std::vector<std::string> plugins =
      o.wide ? ScoringPlugins(report) : std::vector<std::string>();
  std::vector<std::string> header{"NAMESPACE", "POD", "NODE", "SCORE", "FEASIBLE", "EQUAL"};
  for (const std::string& plugin : plugins) header.push_back(ShortPluginName(plugin));
  term::Table table(header);
  for (size_t i = 3; i < header.size(); ++i) table.Right(i);
  for (const PodReport& pod : report.pods) {
    if (pod.outcome != "Placed") continue;
    std::vector<std::string> row{pod.namespace_,
                                 pod.name,
                                 pod.node,
                                 ScoreText(pod),
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

// "6 of 6"; of a gang that was refused also how many fit at best.
std::string GroupPods(const sim::GroupReport& group) {
  std::string text = fmt::format("{} of {}", Grouped(group.placed), Grouped(group.pods));
  if (group.running > 0) text += fmt::format(", {} before", Grouped(group.running));
  return text;
}

std::string Groups(const Report& report, const ReportTextOptions& o) {
  term::Table table({"GROUP", "OUTCOME", "PLACED", "MINIMUM", "AT BEST", "DOMAIN"});
  for (const size_t column : {3, 4}) table.Right(column);
  std::string reasons;
  for (const sim::GroupReport& group : report.groups) {
    const bool placed = group.outcome == "Placed";
    const bool tried = group.outcome == "Unschedulable";
    const std::string& domain = placed ? group.placement : group.best_placement;
    const std::string name = group.namespace_ + "/" + group.name;
    table.Row({name, group.outcome, GroupPods(group),
               group.min_count > 0 ? Grouped(group.min_count) : "-",
               tried ? Grouped(group.best) : "-", domain.empty() ? "-" : domain});
    if (placed) continue;
    reasons += term::Toned(Visible(name), term::Tone::kBold, o.colour) + "\n" +
               term::Wrapped(Visible(group.message), 4);
    for (const sim::BlockerReport& blocker : group.blockers) {
      const std::string who =
          blocker.pods == 1 ? blocker.pod
                            : fmt::format("{} and {} more", blocker.pod, Grouped(blocker.pods - 1));
      reasons += term::Wrapped(Visible(who + ": " + blocker.message), 6);
    }
  }
  if (table.Empty()) return "";
  return table.Text(o.colour) + (reasons.empty() ? "" : "\n" + reasons);
}

// Pods that did not get a place, without those of groups that did not; those of one workload with
// the same message are one entry.
std::string NotPlaced(const Report& report, const ReportTextOptions& o) {
  struct Entry {
    const PodReport* first = nullptr;
    int64_t pods = 0;
  };
  std::vector<Entry> entries;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> seen;
  std::set<std::string> refused;  // groups: their part of the report has the reasons
  for (const sim::GroupReport& group : report.groups) {
    if (group.outcome != "Placed" && group.outcome != "Preempted") {
      refused.insert(group.namespace_ + "/" + group.name);
    }
  }
  for (const PodReport& pod : report.pods) {
    if (pod.outcome == "Placed" || pod.outcome == "Foreign") continue;
    if (!pod.group.empty() && refused.contains(pod.namespace_ + "/" + pod.group)) continue;
    const auto [it, added] =
        seen.try_emplace({WorkloadOf(pod), pod.outcome, pod.message}, entries.size());
    if (added) entries.push_back({&pod, 0});
    ++entries[it->second].pods;
  }
  std::string text;
  for (const Entry& entry : entries) {
    const PodReport& pod = *entry.first;
    const std::string name =
        entry.pods == 1 ? pod.namespace_ + "/" + pod.name : WorkloadOf(pod) + "-*";
    text += term::Toned(Visible(name), term::Tone::kBold, o.colour) + "  " +
            term::Toned(pod.outcome, term::Tone::kBad, o.colour);
    if (entry.pods > 1) text += fmt::format("  {} pods", Grouped(entry.pods));
    text += "\n" + term::Wrapped(Visible(pod.message), 4);
  }
  return text;
}

std::string Preempted(const Report& report, const ReportTextOptions& o) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& victims, const std::string& for_whom) {
    for (const std::string& victim : victims) {
      text +=
          fmt::format("{} made room for {}\n",
                      term::Toned(Visible(victim), term::Tone::kWarn, o.colour), Visible(for_whom));
    }
  };
  for (const PodReport& pod : report.pods) add(pod.preempted, pod.namespace_ + "/" + pod.name);
  for (const sim::GroupReport& group : report.groups) {
    add(group.preempted, "group " + group.namespace_ + "/" + group.name);
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
  add(Groups(report, options));
  add(Preempted(report, options));
  add(NotPlaced(report, options));
  add(Utilization(report, options));
  if (report.fill) add(FillText(*report.fill, options));
  return text;
}

}  // namespace berth::cli

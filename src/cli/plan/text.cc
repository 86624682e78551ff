#include "cli/plan/text.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using plan::NodeStep;
using plan::Plan;
using plan::Step;

std::string Counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

int64_t NodesThat(const Plan& plan, std::string_view change) {
  return std::count_if(plan.nodes.begin(), plan.nodes.end(),
                       [&](const NodeStep& node) { return node.change == change; });
}

std::string Verdict(const Plan& plan, bool colour) {
  if (!plan.Works()) {
    return term::Toned("Not every pod has a place.", term::Tone::kBad, colour);
  }
  if (plan.excess_after > 0) {
    return term::Toned(fmt::format("Spread constraints are still violated by {}.",
                                   Counted(plan.excess_after, "pod")),
                       term::Tone::kBad, colour);
  }
  if (plan.pods.empty() && plan.nodes.empty()) {
    return plan.question == "consolidate" ? "No node can be given up." : "Nothing changes.";
  }
  return term::Toned("Every pod has a place.", term::Tone::kGood, colour);
}

std::string CostText(const Plan& plan) {
  if (!plan.hourly_before || !plan.hourly_after) return "";
  const double change = *plan.hourly_after - *plan.hourly_before;
  return fmt::format("Cost per hour: {:.2f} before, {:.2f} after ({:+.2f}).\n", *plan.hourly_before,
                     *plan.hourly_after, change);
}

std::string Headline(const Plan& plan, bool colour) {
  std::string line = fmt::format("{}: {} before, {} after", plan.question,
                                 Counted(plan.nodes_before, "node"), plan.nodes_after);
  const auto add = [&](int64_t count, std::string_view what) {
    if (count > 0) line += fmt::format(", {} {}", count, what);
  };
  add(plan.moves, "pods move");
  add(plan.starts, "pending pods start");
  add(plan.preempted, "preempted");
  add(plan.homeless, "homeless");
  add(plan.blocked, "blocked");
  add(plan.lost, "lost");
  if (plan.excess_before > 0) {
    line += fmt::format(", excess {} before, {} after", plan.excess_before, plan.excess_after);
  }
  return fmt::format("{}\n{}\n{}", line, Verdict(plan, colour), CostText(plan));
}

std::string NodesText(const Plan& plan) {
  std::string text;
  const auto list = [&](std::string_view change, std::string_view what) {
    const int64_t count = NodesThat(plan, change);
    if (count == 0) return;
    text += fmt::format("\n{} {}:", Counted(count, "node"), what);
    int64_t shown = 0;
    for (const NodeStep& node : plan.nodes) {
      if (node.change != change) continue;
      if (shown++ == 8) {
        text += fmt::format(" … {} more", count - 8);
        break;
      }
      text += " " + Visible(node.name);
    }
    text += "\n";
  };
  list("Freed", "freed");
  list("Kept", "not freed");
  list("Lost", "lost");
  list("Added", "added");
  return text;
}

// Pods without a place, together where workload and reason are the same.
std::string ProblemsText(const Plan& plan, bool colour) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Step*>> groups;
  for (const Step& step : plan.pods) {
    if (step.outcome == "Moves" || step.outcome == "Starts") continue;
    const std::string who =
        step.workload.empty() ? "Pod " + step.namespace_ + "/" + step.name : step.workload;
    groups[{step.outcome, who, step.message}].push_back(&step);
  }
  std::string text;
  for (const auto& [key, steps] : groups) {
    const auto& [outcome, who, message] = key;
    text += fmt::format("\n{}  {}, {}\n    {}\n", term::Toned(outcome, term::Tone::kBad, colour),
                        Visible(who), Counted(static_cast<int64_t>(steps.size()), "pod"),
                        Visible(message));
  }
  return text;
}

std::string MovesText(const Plan& plan, const PlanTextOptions& o) {
  term::Table table({"NAMESPACE", "POD", "FROM", "TO", "EQUAL"});
  table.Right(4);
  size_t shown = 0;
  size_t all = 0;
  for (const Step& step : plan.pods) {
    if (step.to.empty()) continue;
    if (++all > o.rows) continue;
    ++shown;
    table.Row({step.namespace_, step.name, step.from.empty() ? "(pending)" : step.from, step.to,
               std::to_string(step.equal_nodes)});
  }
  if (table.Empty()) return "";
  std::string text = "\n" + table.Text(o.colour);
  if (all > shown) text += fmt::format("… and {} more: -o wide, -o json\n", all - shown);
  return text;
}

std::string Notes(const Plan& plan) {
  std::string text;
  for (const plan::BudgetStep& budget : plan.budgets) {
    text += fmt::format("budget {}/{} refused {}: {} healthy, {} required\n",
                        Visible(budget.namespace_), Visible(budget.name),
                        Counted(budget.refused, "eviction"), budget.healthy, budget.desired);
  }
  for (const std::string& note : plan.alternatives) text += note + "\n";
  for (const std::string& note : plan.assumptions) text += "assumed: " + note + "\n";
  for (const std::string& note : plan.warnings) text += "warning: " + note + "\n";
  return text.empty() ? text : "\n" + text;
}

// A word of a shell command. Names of Kubernetes objects need no quotes; others are from a file
// that no API server has checked.
std::string Quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// Evictions one by one, each after the workload of the one before is whole again.
std::string EvictionsOf(const Plan& plan) {
  std::string text =
      "evict() {\n"
      "  printf '{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":"
      "{\"namespace\":\"%s\",\"name\":\"%s\"}}' \"$1\" \"$2\" |\n"
      "    kubectl create --raw \"/api/v1/namespaces/$1/pods/$2/eviction\" -f - > /dev/null\n"
      "  kubectl wait --for=delete --timeout=10m -n \"$1\" \"pod/$2\"\n"
      "}\n";
  for (const Step& step : plan.pods) {
    text += fmt::format("evict {} {}  # to {}\n", Quoted(step.namespace_), Quoted(step.name),
                        Visible(step.to));
    const std::string kind = step.workload.substr(0, step.workload.find(' '));
    if (kind != "Deployment" && kind != "StatefulSet") continue;
    const std::string name = step.workload.substr(step.workload.find('/') + 1);
    text += fmt::format("kubectl rollout status --timeout=10m -n {} {}\n", Quoted(step.namespace_),
                        Quoted((kind == "Deployment" ? "deployment/" : "statefulset/") + name));
  }
  return text;
}

}  // namespace

std::string PlanText(const Plan& plan, const PlanTextOptions& options) {
  return Headline(plan, options.colour) + NodesText(plan) + ProblemsText(plan, options.colour) +
         MovesText(plan, options) + Notes(plan);
}

std::string PlanScript(const Plan& plan) {
  std::string text =
      fmt::format("#!/bin/sh\n# berth plan {}: {} pods move\nset -e\n", plan.question, plan.moves);
  if (plan.question == "restore-spread") return text + EvictionsOf(plan);
  const bool drains_at_once = plan.question != "upgrade";
  if (drains_at_once) {
    for (const NodeStep& node : plan.nodes) {
      if (node.change == "Freed") text += "kubectl cordon " + Quoted(node.name) + "\n";
    }
  }
  for (const NodeStep& node : plan.nodes) {
    if (node.change == "Added") {
      text += fmt::format("# add a node here ({} in the plan), and wait until it is Ready\n",
                          Visible(node.name));
    }
    if (node.change != "Freed") continue;
    text += fmt::format("kubectl drain {} --ignore-daemonsets --delete-emptydir-data\n",
                        Quoted(node.name));
    text += fmt::format("# the machine of {} can go\n", Visible(node.name));
  }
  return text;
}

}  // namespace berth::cli

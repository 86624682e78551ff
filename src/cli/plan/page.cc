#include "cli/plan/page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/scenario/amounts.h"
#include "cli/scenario/chart.h"
#include "cli/scenario/page_style.h"
#include "cli/scenario/page_table.h"

namespace berth::cli {
namespace {

using plan::NodeStep;
using plan::NodeUse;
using plan::Plan;
using plan::Step;

constexpr size_t kMaxRows = 500;

constexpr std::string_view kMapStyle = R"css(
.maps { display: grid; gap: 16px; margin-top: 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
.maps h4 { margin: 12px 0 4px; font-size: 13px; font-weight: 600; }
.maps h4 span { color: var(--soft); font-weight: 400; }
.cells { display: flex; flex-wrap: wrap; gap: 3px; }
.cells i { width: 16px; height: 22px; border: 1px solid var(--base); border-radius: 3px;
  background: linear-gradient(to top, var(--s0) var(--f), transparent var(--f)); }
.cells i.gone { border-style: dashed; border-color: var(--shade); opacity: 0.55; }
.cells i.kept { border-color: var(--shade); border-width: 2px; }
.cells i.new { border-color: var(--s2); border-width: 2px; }
.legend i.gone { border: 1px dashed var(--shade); } .legend i.kept { border: 2px solid var(--shade); }
.legend i.new { border: 2px solid var(--s2); }
.verdict { font-weight: 650; } .verdict.bad { color: var(--shade); }
)css";

struct Side {
  std::string_view title;
  bool after;
};

bool IsGone(const NodeUse& node) { return node.change == "Freed" || node.change == "Lost"; }
bool IsOn(const NodeUse& node, const Side& side) {
  return side.after ? !IsGone(node) : node.change != "Added";
}
double FullOn(const NodeUse& node, const Side& side) {
  return side.after ? node.after : node.before;
}

std::string Cell(const NodeUse& node, const Side& side) {
  const double full = FullOn(node, side);
  const int64_t pods = side.after ? node.pods_after : node.pods_before;
  std::string_view mark;
  if (IsGone(node)) mark = "gone";
  if (node.change == "Kept") mark = "kept";
  if (node.change == "Added") mark = "new";
  std::string title = fmt::format("{}: {} requested, {} pods", node.name, PercentText(full), pods);
  if (!node.change.empty()) title += ", " + node.change;
  return fmt::format("<i class=\"{}\" style=\"--f:{:.0f}%\" title=\"{}\"></i>", mark,
                     std::min(full, 100.0), Escaped(title));
}

std::string GroupName(const NodeUse& node) {
  if (node.pool.empty() && node.zone.empty()) return "nodes";
  if (node.pool.empty()) return node.zone;
  return node.zone.empty() ? node.pool : node.pool + " · " + node.zone;
}

// One pool in one zone.
std::string Group(const std::vector<NodeUse>& nodes, size_t from, size_t to, const Side& side) {
  double full = 0;
  int64_t count = 0;
  std::string cells;
  for (size_t i = from; i < to; ++i) {
    const NodeUse& node = nodes[i];
    // A node that is gone keeps its place on the right, so that both sides have the same shape.
    if (!IsOn(node, side) && !(side.after && IsGone(node))) continue;
    cells += Cell(node, side);
    if (!IsOn(node, side)) continue;
    ++count;
    full += FullOn(node, side);
  }
  if (cells.empty()) return "";
  const std::string mean =
      count == 0 ? ""
                 : fmt::format(", {} requested", PercentText(full / static_cast<double>(count)));
  return fmt::format("<h4>{} <span>{} node{}{}</span></h4>\n<div class=\"cells\">{}</div>\n",
                     Escaped(GroupName(nodes[from])), Grouped(count), count == 1 ? "" : "s", mean,
                     cells);
}

std::string Map(const std::vector<NodeUse>& nodes, const Side& side) {
  std::string text = fmt::format("<section class=\"card\"><h3>{}</h3>\n", side.title);
  for (size_t from = 0; from < nodes.size();) {
    size_t to = from;
    while (to < nodes.size() && GroupName(nodes[to]) == GroupName(nodes[from])) ++to;
    text += Group(nodes, from, to, side);
    from = to;
  }
  return text + "</section>\n";
}

std::string Maps(const std::vector<NodeUse>& nodes) {
  return "<p class=\"note\">A node is as full as its cpu or memory is requested, whichever is "
         "more.</p>\n<ul class=\"legend\"><li><i class=\"gone\"></i>freed or lost</li>"
         "<li><i class=\"kept\"></i>not freed: pods remain on it</li>"
         "<li><i class=\"new\"></i>added</li></ul>\n<div class=\"maps\">\n" +
         Map(nodes, {"Before", false}) + Map(nodes, {"After", true}) + "</div>\n";
}

// `all`: how many rows there are; the first of them are shown.
std::string Table(const std::string& title, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows, size_t all) {
  PageTable table{title, header, rows, header.size()};
  if (all > rows.size()) {
    table.note = fmt::format("and {} more: -o json has all",
                             Grouped(static_cast<int64_t>(all - rows.size())));
  }
  return ToHtml(table);
}

std::string Problems(const Plan& plan) {
  std::vector<std::vector<std::string>> rows;
  size_t all = 0;
  for (const Step& step : plan.pods) {
    if (!step.to.empty() || ++all > kMaxRows) continue;
    rows.push_back({step.namespace_ + "/" + step.name, step.outcome, step.message});
  }
  return Table("Pods without a place", {"pod", "outcome", "why"}, rows, all);
}

std::string Moves(const Plan& plan) {
  std::vector<std::vector<std::string>> rows;
  size_t all = 0;
  for (const Step& step : plan.pods) {
    if (step.to.empty() || ++all > kMaxRows) continue;
    rows.push_back({step.namespace_ + "/" + step.name, step.workload,
                    step.from.empty() ? "(pending)" : step.from, step.to,
                    std::to_string(step.equal_nodes)});
  }
  return Table("Pods that move or start, in order",
               {"pod", "workload", "from", "to", "equal nodes"}, rows, all);
}

std::string Budgets(const Plan& plan) {
  std::vector<std::vector<std::string>> rows;
  for (const plan::BudgetStep& budget : plan.budgets) {
    rows.push_back({budget.namespace_ + "/" + budget.name, std::to_string(budget.refused),
                    std::to_string(budget.healthy), std::to_string(budget.desired)});
  }
  return Table("Disruption budgets that refuse evictions",
               {"budget", "evictions refused", "healthy", "required"}, rows, rows.size());
}

std::string Notes(const Plan& plan) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& notes, std::string_view what) {
    for (const std::string& note : notes) {
      text += fmt::format("<p class=\"note\">{}{}</p>\n", what, Escaped(note));
    }
  };
  add(plan.alternatives, "");
  add(plan.assumptions, "Assumed: ");
  add(plan.warnings, "Warning: ");
  return text;
}

std::string Tile(const std::string& value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", value, what);
}

std::string Tiles(const Plan& plan) {
  std::string text = "<div class=\"tiles\">\n";
  text += Tile(Grouped(plan.nodes_before) + " → " + Grouped(plan.nodes_after), "nodes");
  const auto count = [&](int64_t n, std::string_view what) {
    if (n > 0) text += Tile(Grouped(n), what);
  };
  count(plan.moves, "pods move");
  count(plan.starts, "pending pods start");
  count(plan.homeless, "pods have no place");
  count(plan.blocked, "pods may not be evicted");
  count(plan.lost, "pods are lost");
  count(plan.preempted, "pods are preempted");
  if (plan.hourly_before && plan.hourly_after) {
    text += Tile(fmt::format("{:.2f} → {:.2f}", *plan.hourly_before, *plan.hourly_after),
                 "cost per hour");
  }
  return text + "</div>\n";
}

}  // namespace

std::string PlanPage(const Plan& plan, const std::vector<NodeUse>& nodes) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>Plan: {}</title>\n<style>{}{}</style>\n</head>\n", plan.question,
                      kPageStyle, kMapStyle);
  page += fmt::format("<body>\n<header><h1>Plan: {}</h1>\n<p class=\"verdict{}\">{}</p></header>\n",
                      plan.question, plan.Works() ? "" : " bad",
                      plan.Works() ? "Every pod has a place." : "Not every pod has a place.");
  page += Tiles(plan) + "<h2>Nodes</h2>\n" + Maps(nodes);
  page += "<h2>Pods</h2>\n<div class=\"tables\">\n" + Problems(plan) + Budgets(plan) + Moves(plan) +
          "</div>\n" + Notes(plan);
  return page + "<footer>berth plan</footer>\n</body>\n</html>\n";
}

}  // namespace berth::cli

#include "cli/replay/difference_text.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "cli/scenario/amounts.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr size_t kMaxWorkloads = 15;
constexpr size_t kMaxPods = 10;

std::string Count(int64_t n, std::string_view what) {
  return fmt::format("{} {}", Grouped(n), what);
}

std::string Headline(const history::Difference& d, bool colour) {
  std::string text = fmt::format("{} to {}\nother rules: {}\n", d.from, d.to, Visible(d.rules));
  text += fmt::format("{} of {} pods are placed as before", Grouped(d.same), Grouped(d.pods));
  const auto add = [&](int64_t count, std::string_view what, term::Tone tone) {
    if (count > 0) text += ", " + term::Toned(Count(count, what), tone, colour);
  };
  add(d.elsewhere, "elsewhere", term::Tone::kWarn);
  add(d.lost, "find no node", term::Tone::kBad);
  add(d.gained, "find one", term::Tone::kGood);
  text += "\n";
  if (d.recorded_bound > 0) {
    text +=
        fmt::format("the model repeats {:.1f}% of the {} recorded placements\n",
                    100.0 * static_cast<double>(d.repeated) / static_cast<double>(d.recorded_bound),
                    Grouped(d.recorded_bound));
  }
  return text;
}

std::string Figures(const history::Difference& d, bool colour) {
  term::Table table({"", "RECORDED RULES", "OTHER RULES", "DIFFERENCE"});
  for (const size_t column : {1, 2, 3}) table.Right(column);
  for (const history::Figure& figure : d.figures) {
    table.Row({figure.what, FigureText(figure, figure.recorded, false),
               FigureText(figure, figure.other, false),
               FigureText(figure, figure.other - figure.recorded, true)});
  }
  return table.Text(colour);
}

std::string Pools(const history::Difference& d, bool colour) {
  if (d.pools.empty() || (d.pools.size() == 1 && d.pools[0].pool.empty() && !d.priced)) return "";
  const std::vector<std::string> header = PoolHeader(d);
  term::Table table(header);
  for (size_t column = 1; column < header.size(); ++column) table.Right(column);
  for (std::vector<std::string>& row : PoolRows(d)) table.Row(std::move(row));
  return "\n" + table.Text(colour);
}

// "12.50 -> 10.25".
std::string Change(double recorded, double other) {
  return fmt::format("{:.2f} -> {:.2f}", recorded, other);
}

std::string Workloads(const history::Difference& d, bool colour) {
  if (d.workloads.empty()) return "";
  term::Table table({"WORKLOAD", "PODS", "ELSEWHERE", "NO NODE NOW", "A NODE NOW"});
  for (const size_t column : {1, 2, 3, 4}) table.Right(column);
  for (size_t i = 0; i < d.workloads.size() && i < kMaxWorkloads; ++i) {
    const history::MovedWorkload& line = d.workloads[i];
    table.Row({Visible(line.workload), Grouped(line.pods), Grouped(line.elsewhere),
               Grouped(line.lost), Grouped(line.gained)});
  }
  std::string text = "\n" + table.Text(colour);
  if (d.workloads.size() > kMaxWorkloads) {
    text += fmt::format("and {} more workloads (-o json has them)\n",
                        d.workloads.size() - kMaxWorkloads);
  }
  return text;
}

std::string Pods(const history::Difference& d, bool colour) {
  if (d.moved.empty()) return "";
  term::Table table({"POD", "RECORDED RULES", "OTHER RULES"});
  const auto node = [](const std::string& name) { return name.empty() ? "-" : Visible(name); };
  for (size_t i = 0; i < d.moved.size() && i < kMaxPods; ++i) {
    const history::MovedPod& pod = d.moved[i];
    table.Row({Visible(pod.pod), node(pod.recorded), node(pod.other)});
  }
  std::string text = "\n" + table.Text(colour);
  const int64_t more = d.elsewhere + d.lost + d.gained - static_cast<int64_t>(kMaxPods);
  if (more > 0) text += fmt::format("and {} more pods (-o json has up to 1000)\n", Grouped(more));
  return text;
}

}  // namespace

std::vector<std::string> PoolHeader(const history::Difference& d) {
  std::vector<std::string> header = {"NODE POOL", "NODE HOURS", "IN USE"};
  if (d.priced) header.insert(header.end(), {"COST", "COST OF IDLE"});
  return header;
}

std::vector<std::vector<std::string>> PoolRows(const history::Difference& d) {
  std::vector<std::vector<std::string>> rows;
  for (const history::PoolDifference& pool : d.pools) {
    const history::PoolCost& a = pool.recorded;
    const history::PoolCost& b = pool.other;
    rows.push_back({pool.pool.empty() ? "(none)" : Visible(pool.pool),
                    Change(a.node_hours, b.node_hours),
                    Change(a.used_node_hours, b.used_node_hours)});
    if (!d.priced) continue;
    if (!a.priced || !b.priced) rows.back()[0] += " (a node has no price)";
    rows.back().push_back(Change(a.cost, b.cost));
    rows.back().push_back(Change(a.idle_cost, b.idle_cost));
  }
  return rows;
}

std::string FigureText(const history::Figure& figure, double value, bool delta) {
  const double size = std::abs(value);
  if (delta && size < 1e-9) return "=";
  std::string text;
  if (figure.unit == "seconds") {
    text = size == 0 ? "0s" : LengthText(size);
  } else if (figure.unit == "percent") {
    text = PercentText(size);
  } else if (figure.unit == "money") {
    text = fmt::format("{:.2f}", size);
  } else {
    text = Grouped(static_cast<int64_t>(std::llround(size)));
  }
  if (value < 0) return "-" + text;
  return delta ? "+" + text : text;
}

std::string DifferenceText(const history::Difference& difference, bool colour) {
  std::string text = Headline(difference, colour) + "\n" + Figures(difference, colour);
  text += Pools(difference, colour);
  text += Workloads(difference, colour) + Pods(difference, colour);
  for (const std::string& warning : difference.other.warnings) {
    text += "warning: " + Visible(warning) + "\n";
  }
  if (!difference.damage.empty()) {
    text += "read up to the damage: " + Visible(difference.damage) + "\n";
  }
  return text;
}

}  // namespace berth::cli

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/replay/difference_text.h"
#include "cli/scenario/amounts.h"
#include "cli/scenario/chart.h"
#include "cli/scenario/page_style.h"
#include "cli/scenario/page_table.h"

namespace berth::cli {
namespace {

using sim::SamplePoint;

constexpr size_t kMaxRows = 100;
constexpr std::string_view kBarStyle =
    ".bars rect.all{fill:currentColor;opacity:.18}.bars rect.used{fill:currentColor;opacity:.6}";

class Charts {
 public:
  explicit Charts(const history::Difference& difference) : d_(difference) {
    // Both reruns take their samples at the same times.
    const size_t samples = std::min(d_.recorded.samples.size(), d_.other.samples.size());
    for (size_t i = 0; i < samples; ++i) times_.push_back(d_.recorded.samples[i].at);
  }

  std::string All() const {
    if (times_.empty()) return "";
    std::string text = "<div class=\"charts\">\n";
    text += Chart("CPU requested", "percent of what nodes can allocate", &SamplePoint::cpu, 100);
    text +=
        Chart("Memory requested", "percent of what nodes can allocate", &SamplePoint::memory, 100);
    text += Chart("Pending pods", "without a node", &SamplePoint::pending, 0);
    text += Latency();
    text += Chart("Preempted pods", "between samples", &SamplePoint::preempted, 0);
    text += Chart("Fragmentation of cpu",
                  "percent of what is free, on nodes too full for the "
                  "reference pod",
                  &SamplePoint::cpu_stranded, 100);
    text += Chart("Headroom", "how many more reference pods would fit", &SamplePoint::headroom, 0);
    text += Chart("Nodes", "that exist", &SamplePoint::nodes, 0);
    return text + "</div>\n";
  }

  // Cost per pool as bars: a pair for each.
  std::string Costs() const {
    double most = 0;
    for (const history::PoolDifference& pool : d_.pools) {
      most = std::max({most, pool.recorded.cost, pool.other.cost});
    }
    if (!d_.priced || most <= 0) return "";
    std::string text =
        "<section class=\"card\"><h3>Cost per node pool</h3>\n"
        "<p>over the whole time; darker: nodes in use</p>\n<table class=\"bars\">\n";
    for (const history::PoolDifference& pool : d_.pools) {
      const std::string name = pool.pool.empty() ? "(none)" : pool.pool;
      text += Bar(name, "recorded rules", pool.recorded, most) +
              Bar("", "other rules", pool.other, most);
    }
    return text + "</table></section>\n";
  }

 private:
  static std::string Bar(const std::string& pool, std::string_view rules,
                         const history::PoolCost& cost, double most) {
    const double all = 300 * cost.cost / most;
    const double used = 300 * (cost.cost - cost.idle_cost) / most;
    return fmt::format(
        "<tr><td class=\"t\">{}</td><td class=\"t\">{}</td><td class=\"t\"><svg width=\"300\" "
        "height=\"14\" role=\"img\" aria-label=\"{:.2f}\"><rect class=\"all\" width=\"{:.1f}\" "
        "height=\"14\"/><rect class=\"used\" width=\"{:.1f}\" height=\"14\"/></svg></td>"
        "<td>{:.2f}</td></tr>\n",
        Escaped(pool), rules, cost.cost, all, used, cost.cost);
  }

  template <class Value>
  TimeChart New(std::string title, std::string about, Value SamplePoint::*value) const {
    TimeChart chart;
    chart.title = std::move(title);
    chart.about = std::move(about);
    chart.times = times_;
    const auto series = [&](std::string label, const std::vector<SamplePoint>& samples) {
      Series made{std::move(label), {}};
      for (size_t i = 0; i < times_.size(); ++i) {
        made.values.push_back(static_cast<double>(samples[i].*value));
      }
      return made;
    };
    chart.series = {series("recorded rules", d_.recorded.samples),
                    series("other rules", d_.other.samples)};
    chart.show = [](double n) { return fmt::format("{:g}", n); };
    return chart;
  }
  template <class Value>
  std::string Chart(std::string title, std::string about, Value SamplePoint::*value,
                    double top) const {
    TimeChart chart = New(std::move(title), std::move(about), value);
    chart.top = top;
    return Draw(chart);
  }
  std::string Latency() const {
    TimeChart chart = New("Latency", "from creation to binding, 99th percentile between samples",
                          &SamplePoint::p99);
    chart.lengths = true;
    chart.show = [](double seconds) { return seconds == 0 ? "0" : LengthText(seconds); };
    return Draw(chart);
  }

  const history::Difference& d_;
  std::vector<double> times_;
};

std::string Tables(const history::Difference& d) {
  std::vector<std::vector<std::string>> figures;
  for (const history::Figure& figure : d.figures) {
    figures.push_back({figure.what, FigureText(figure, figure.recorded, false),
                       FigureText(figure, figure.other, false),
                       FigureText(figure, figure.other - figure.recorded, true)});
  }
  std::vector<std::vector<std::string>> workloads;
  for (const history::MovedWorkload& line : d.workloads) {
    if (workloads.size() == kMaxRows) break;
    workloads.push_back({line.workload, Grouped(line.pods), Grouped(line.elsewhere),
                         Grouped(line.lost), Grouped(line.gained)});
  }
  std::vector<std::vector<std::string>> pods;
  for (const history::MovedPod& pod : d.moved) {
    if (pods.size() == kMaxRows) break;
    pods.push_back({pod.pod, pod.recorded, pod.other});
  }
  std::string text = "<div class=\"tables\">\n";
  text += ToHtml({"Figures", {"", "recorded rules", "other rules", "difference"}, figures});
  if (d.priced || d.pools.size() > 1) {
    text += ToHtml({"Node pools", PoolHeader(d), PoolRows(d)});
  }
  text += ToHtml(
      {"Workloads", {"workload", "pods", "elsewhere", "no node now", "a node now"}, workloads});
  text += ToHtml({"Pods placed elsewhere", {"pod", "recorded rules", "other rules"}, pods, 3});
  return text + "</div>\n";
}

std::string Tile(const std::string& value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", Escaped(value), what);
}

}  // namespace

std::string DifferencePage(const history::Difference& d) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>The same history, other rules</title>\n<style>{}</style>\n</head>\n",
                      std::string(kPageStyle) + std::string(kBarStyle));
  page += fmt::format(
      "<body>\n<header><h1>The same history, other rules</h1>\n<p class=\"lead\">{} to {}. Other "
      "rules: {}.</p></header>\n",
      Escaped(d.from), Escaped(d.to), Escaped(d.rules));
  page += "<div class=\"tiles\">\n" + Tile(Grouped(d.pods), "pods compared") +
          Tile(Grouped(d.same), "placed as before") + Tile(Grouped(d.elsewhere), "elsewhere") +
          Tile(Grouped(d.lost), "find no node now") + Tile(Grouped(d.gained), "find a node now") +
          "</div>\n";
  const Charts charts(d);
  page += "<h2>Over time</h2>\n" + charts.All();
  if (const std::string costs = charts.Costs(); !costs.empty()) {
    page += "<h2>Money</h2>\n<div class=\"tables\">\n" + costs + "</div>\n";
  }
  page += "<h2>In numbers</h2>\n" + Tables(d);
  return page + "<footer>berth replay</footer>\n</body>\n</html>\n";
}

}  // namespace berth::cli

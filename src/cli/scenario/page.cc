#include "cli/scenario/page.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/scenario/amounts.h"
#include "cli/scenario/chart.h"
#include "cli/scenario/page_style.h"
#include "cli/scenario/page_table.h"

namespace berth::cli {
namespace {

using sim::SamplePoint;
using sim::ScenarioReport;

// More points than a chart has pixels for say nothing.
constexpr size_t kMostPoints = 200;

// What happened between two samples is added up, what was measured is the last.
SamplePoint Merged(const SamplePoint& first, const SamplePoint& second) {
  SamplePoint merged = second;
  merged.scheduler_up = first.scheduler_up && second.scheduler_up;
  merged.created += first.created;
  merged.scheduled += first.scheduled;
  merged.attempts += first.attempts;
  merged.preempted += first.preempted;
  merged.p50 = std::max(first.p50, second.p50);
  merged.p99 = std::max(first.p99, second.p99);
  return merged;
}

std::vector<SamplePoint> Thinned(const std::vector<SamplePoint>& samples) {
  const size_t group = samples.size() / kMostPoints + 1;
  std::vector<SamplePoint> thin;
  for (size_t i = 0; i < samples.size(); ++i) {
    // The first stands alone: time 0.
    const bool joins = i > 0 && (i - 1) % group != 0;
    if (joins) {
      thin.back() = Merged(thin.back(), samples[i]);
    } else {
      thin.push_back(samples[i]);
    }
  }
  return thin;
}

class Charts {
 public:
  explicit Charts(const ScenarioReport& report)
      : report_(report), samples_(Thinned(report.samples)) {
    for (const SamplePoint& sample : samples_) times_.push_back(sample.at);
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i].scheduler_up) continue;
      shaded_.emplace_back(i == 0 ? 0 : times_[i - 1], times_[i]);
    }
  }

  std::string All() const {
    std::string text = "<div class=\"charts\">\n";
    text += Utilization() + Pods() + Queues() + Throughput() + Latency() + Histogram();
    text += Fragmentation() + Headroom() + Nodes();
    return text + "</div>\n";
  }

 private:
  using Value = std::function<double(const SamplePoint&)>;

  Series Of(std::string label, const Value& value) const {
    Series series{std::move(label), {}};
    for (const SamplePoint& sample : samples_) series.values.push_back(value(sample));
    return series;
  }

  // A count since the last sample, per second.
  Series RateOf(std::string label, int64_t SamplePoint::*count) const {
    Series series{std::move(label), {}};
    for (size_t i = 0; i < samples_.size(); ++i) {
      const double length = i == 0 ? 0 : times_[i] - times_[i - 1];
      const auto happened = static_cast<double>(samples_[i].*count);
      series.values.push_back(length > 0 ? happened / length : 0);
    }
    return series;
  }

  TimeChart New(std::string title, std::string about,
                std::function<std::string(double)> show) const {
    TimeChart chart;
    chart.title = std::move(title);
    chart.about = std::move(about);
    chart.times = times_;
    chart.show = std::move(show);
    for (const sim::EventLine& event : report_.events)
      chart.marks.emplace_back(event.at, event.name);
    chart.shaded = shaded_;
    chart.shaded_about = "the scheduler was down";
    return chart;
  }

  static std::string Count(double n) { return Grouped(static_cast<int64_t>(n + 0.5)); }
  // An axis of few pods has steps between whole numbers.
  static std::string Number(double n) {
    return n == static_cast<double>(static_cast<int64_t>(n)) ? Count(n) : fmt::format("{:g}", n);
  }
  static std::string Share(double percent) { return fmt::format("{:g}%", percent); }
  static std::string Length(double seconds) {
    if (seconds == 0) return "0";
    return seconds >= 1 && seconds < 60 ? fmt::format("{:.3g}s", seconds) : LengthText(seconds);
  }
  static std::string Rate(double per_second) {
    return per_second >= 1000 ? Count(per_second) : fmt::format("{:.3g}", per_second);
  }

  std::string Utilization() const {
    TimeChart chart = New("Utilisation", "requested, in percent of what nodes can allocate", Share);
    chart.top = 100;
    chart.series = {Of("cpu", [](const auto& s) { return s.cpu; }),
                    Of("memory", [](const auto& s) { return s.memory; }),
                    Of("pods", [](const auto& s) { return s.pods; })};
    return Draw(chart);
  }

  std::string Pods() const {
    TimeChart chart = New("Pods", "with a node, and pending", Number);
    chart.stacked = true;
    chart.series = {Of("with a node", [](const auto& s) { return s.bound; }),
                    Of("pending", [](const auto& s) { return s.pending; })};
    return Draw(chart);
  }

  std::string Queues() const {
    TimeChart chart = New("Scheduling queues", "pods that wait, by queue", Number);
    chart.stacked = true;
    chart.series = {Of("active", [](const auto& s) { return s.active; }),
                    Of("backoff", [](const auto& s) { return s.backoff; }),
                    Of("unschedulable", [](const auto& s) { return s.unschedulable; }),
                    Of("gated", [](const auto& s) { return s.gated; })};
    return Draw(chart);
  }

  std::string Throughput() const {
    TimeChart chart = New("Throughput", "pods per second, averaged between samples", Rate);
    chart.series = {RateOf("created", &SamplePoint::created),
                    RateOf("scheduled", &SamplePoint::scheduled),
                    RateOf("preempted", &SamplePoint::preempted)};
    return Draw(chart);
  }

  std::string Latency() const {
    TimeChart chart = New("Scheduling latency",
                          "from creation to binding, of the pods bound between samples", Length);
    chart.lengths = true;
    chart.series = {Of("p99", [](const auto& s) { return s.p99; }),
                    Of("p50", [](const auto& s) { return s.p50; })};
    return Draw(chart);
  }

  std::string Histogram() const {
    BarChart chart;
    chart.title = "Latency distribution";
    chart.about = "pods by the time from creation to binding; a bar begins at its label";
    chart.show = Number;
    for (const sim::LatencyBucket& bucket : report_.latency_histogram) {
      chart.labels.push_back(Length(bucket.from));
      chart.values.push_back(static_cast<double>(bucket.pods));
    }
    return Draw(chart);
  }

  std::string Fragmentation() const {
    TimeChart chart =
        New("Fragmentation", "share of what is free on nodes that cannot take the reference pod",
            Share);
    chart.top = 100;
    chart.series = {Of("cpu", [](const auto& s) { return s.cpu_stranded; }),
                    Of("memory", [](const auto& s) { return s.memory_stranded; })};
    return Draw(chart);
  }

  std::string Headroom() const {
    TimeChart chart = New("Headroom", "how many more reference pods would fit", Number);
    chart.series = {Of("headroom", [](const auto& s) { return s.headroom; })};
    return Draw(chart);
  }

  std::string Nodes() const {
    TimeChart chart = New("Nodes", "that exist, cordoned and tainted ones too", Number);
    chart.series = {Of("nodes", [](const auto& s) { return s.nodes; })};
    return Draw(chart);
  }

  const ScenarioReport& report_;
  std::vector<SamplePoint> samples_;
  std::vector<double> times_;
  std::vector<std::pair<double, double>> shaded_;
};

std::string Tile(const std::string& value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", Escaped(value), what);
}

std::string Tiles(const ScenarioReport& report) {
  const sim::LatencyLine& all = report.latency.front();
  std::string text = "<div class=\"tiles\">\n";
  text += Tile(Grouped(report.pods.scheduled), "pods scheduled");
  text += Tile(Grouped(report.pods.pending), "pending at the end");
  text += Tile(LengthText(all.p50), "latency, median");
  text += Tile(LengthText(all.p99), "latency, 99th percentile");
  text += Tile(PercentText(report.utilization.front().peak), "cpu requested at the peak");
  text += Tile(RateText(report.scheduler.peak_per_second), "pods scheduled per second, peak");
  text += Tile(Grouped(report.pods.preempted), "pods preempted");
  text += Tile(PercentText(report.fragmentation.cpu.peak), "of free cpu stranded, peak");
  return text + "</div>\n";
}

std::string Tables(const ScenarioReport& report) {
  std::vector<std::vector<std::string>> latency;
  for (const sim::LatencyLine& l : report.latency) {
    latency.push_back({l.priority, Grouped(l.pods), LengthText(l.mean), LengthText(l.p50),
                       LengthText(l.p90), LengthText(l.p99), LengthText(l.max)});
  }
  std::vector<std::vector<std::string>> shares;
  const auto share = [&](const std::string& what, const sim::Summary& s) {
    shares.push_back({what, PercentText(s.mean), PercentText(s.peak), PercentText(s.end)});
  };
  for (const sim::Summary& s : report.utilization) share(s.what + " requested", s);
  share("free cpu stranded", report.fragmentation.cpu);
  share("free memory stranded", report.fragmentation.memory);
  const std::string reference =
      fmt::format("Stranded: on nodes that cannot take the reference pod of {} cpu and {} memory.",
                  report.fragmentation.reference_cpu, report.fragmentation.reference_memory);
  std::vector<std::vector<std::string>> reasons;
  for (const sim::ReasonLine& r : report.reasons) {
    reasons.push_back({r.reason, Grouped(r.attempts), Grouped(r.pending)});
  }
  std::vector<std::vector<std::string>> attempts;
  for (const sim::AttemptsLine& a : report.attempts) {
    if (attempts.size() == 12) break;
    attempts.push_back({Grouped(a.attempts), Grouped(a.pods)});
  }
  const sim::PodCounts& p = report.pods;
  const std::vector<std::vector<std::string>> pods = {
      {"created", Grouped(p.created)},
      {"scheduled", Grouped(p.scheduled)},
      {"finished", Grouped(p.finished)},
      {"deleted", Grouped(p.deleted)},
      {"preempted", Grouped(p.preempted)},
      {"pending at the end", Grouped(p.pending)},
      {"of these, unschedulable", Grouped(p.unschedulable)},
      {"of these, gated", Grouped(p.gated)}};
  std::vector<std::vector<std::string>> events;
  for (const sim::EventLine& e : report.events) {
    if (events.size() == 60) break;
    events.push_back({e.name, e.at == 0 ? "0s" : LengthText(e.at)});
  }
  std::string text = "<div class=\"tables\">\n";
  text += ToHtml(
      {"Latency by priority", {"priority", "pods", "mean", "p50", "p90", "p99", "max"}, latency});
  text += ToHtml({"Why attempts failed", {"reason", "attempts", "pending pods"}, reasons});
  text += ToHtml({"Resources", {"", "mean", "peak", "end"}, shares, 1, reference});
  text += ToHtml({"Pods", {"", "pods"}, pods});
  text += ToHtml({"Events", {"event", "at"}, events});
  text += ToHtml({"Attempts until scheduled", {"attempts", "pods"}, attempts});
  return text + "</div>\n";
}

std::string Warnings(const ScenarioReport& report) {
  if (report.warnings.empty()) return "";
  std::string text = "<h2>Warnings</h2>\n<ul>\n";
  for (const std::string& warning : report.warnings) {
    text += fmt::format("<li>{}</li>\n", Escaped(warning));
  }
  return text + "</ul>\n";
}

}  // namespace

std::string ScenarioPage(const ScenarioReport& report, const std::string& title) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  page += fmt::format("<title>{0}: berth simulate</title>\n<style>{1}</style>\n</head>\n<body>\n",
                      Escaped(title), kPageStyle);
  page += fmt::format(
      "<header><h1>{}</h1>\n<p class=\"lead\">{} of virtual time on {} nodes: {} pods created, {} "
      "attempts to schedule them.</p></header>\n",
      Escaped(title), LengthText(report.duration_seconds), Grouped(report.nodes),
      Grouped(report.pods.created), Grouped(report.scheduler.attempts));
  page += Tiles(report);
  page += "<h2>Over time</h2>\n";
  if (!report.events.empty()) {
    page +=
        "<p class=\"note\">Dashed lines are events; hover over a chart for values and "
        "names.</p>\n";
  }
  page += Charts(report).All();
  page += "<h2>In numbers</h2>\n" + Tables(report) + Warnings(report);
  page += fmt::format("<footer>berth simulate, seed {}, a sample every {}</footer>\n", report.seed,
                      LengthText(report.sample_every_seconds));
  return page + "</body>\n</html>\n";
}

}  // namespace berth::cli

#include "cli/scenario/text.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/visible.h"
#include "cli/scenario/amounts.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using sim::SamplePoint;
using sim::ScenarioReport;

constexpr size_t kColumns = 80;
constexpr size_t kLabelWidth = 20;
constexpr size_t kSparkWidth = 42;
constexpr size_t kMaxWorkloads = 15;
constexpr size_t kMaxLost = 5;

// Cuts a text that does not fit into the line.
std::string Cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string Headline(const ScenarioReport& report, const ScenarioTextOptions& o) {
  const auto& pods = report.pods;
  std::string line = fmt::format("{} of virtual time on {} nodes",
                                 LengthText(report.duration_seconds), Grouped(report.nodes));
  if (o.seconds > 0) {
    line += fmt::format(", in {:.2f} s ({} times as fast)", o.seconds,
                        Grouped(static_cast<int64_t>(report.duration_seconds / o.seconds)));
  }
  line += fmt::format("\n{} pods: ", Grouped(pods.created));
  line += term::Toned(Grouped(pods.scheduled) + " scheduled", term::Tone::kGood, o.colour);
  const auto add = [&](int64_t count, std::string_view what, term::Tone tone) {
    if (count > 0)
      line += ", " + term::Toned(fmt::format("{} {}", Grouped(count), what), tone, o.colour);
  };
  add(pods.finished, "finished", term::Tone::kPlain);
  add(pods.deleted, "deleted", term::Tone::kPlain);
  add(pods.pending, "pending", pods.unschedulable > 0 ? term::Tone::kBad : term::Tone::kWarn);
  return line + "\n";
}

std::string Pending(const ScenarioReport& report, const ScenarioTextOptions& o) {
  const auto& pods = report.pods;
  if (pods.pending == 0) return "";
  std::string line;
  const auto add = [&](int64_t count, std::string_view what, term::Tone tone) {
    if (count == 0) return;
    line += line.empty() ? "" : ", ";
    line += term::Toned(fmt::format("{} {}", Grouped(count), what), tone, o.colour);
  };
  add(pods.unschedulable, "unschedulable", term::Tone::kBad);
  add(pods.gated, "gated", term::Tone::kWarn);
  add(pods.pending - pods.unschedulable - pods.gated, "still to be tried", term::Tone::kPlain);
  return "pending at the end: " + line + "\n";
}

// Workloads with pending pods, before the first event and at the end.
std::string PendingWorkloads(const ScenarioReport& report, const ScenarioTextOptions& o) {
  if (report.pending.empty()) return "";
  term::Table table({"WORKLOAD", "PENDING BEFORE", "AT THE END"});
  table.Right(1);
  table.Right(2);
  std::string more;
  for (size_t i = 0; i < report.pending.size(); ++i) {
    const sim::PendingLine& line = report.pending[i];
    if (i == kMaxWorkloads) {
      more = fmt::format("and {} more workloads (-o json has them)\n", report.pending.size() - i);
      break;
    }
    table.Row(
        {Cut(Visible(line.workload), kColumns - 32), Grouped(line.before), Grouped(line.pending)});
  }
  return table.Text(o.colour) + more;
}

// Pods that are gone although nobody asked for it.
std::string Lost(const ScenarioReport& report, const ScenarioTextOptions& o) {
  if (report.pods.lost == 0) return "";
  std::string text =
      term::Toned(fmt::format("{} lost", Grouped(report.pods.lost)), term::Tone::kBad, o.colour) +
      ": evicted or preempted, and no controller replaces them\n";
  for (size_t i = 0; i < report.lost.size() && i < kMaxLost; ++i) {
    text += "  " + Cut(Visible(report.lost[i]), kColumns - 2) + "\n";
  }
  const int64_t more = report.pods.lost - static_cast<int64_t>(kMaxLost);
  return more > 0 ? text + fmt::format("  and {} more\n", Grouped(more)) : text;
}

std::string Latency(const ScenarioReport& report, const ScenarioTextOptions& o) {
  term::Table table({"LATENCY BY PRIORITY", "PODS", "MEAN", "P50", "P90", "P99", "MAX"});
  for (const size_t column : {1, 2, 3, 4, 5, 6}) table.Right(column);
  for (const sim::LatencyLine& line : report.latency) {
    table.Row({line.priority, Grouped(line.pods), LengthText(line.mean), LengthText(line.p50),
               LengthText(line.p90), LengthText(line.p99), LengthText(line.max)});
  }
  return table.Text(o.colour);
}

std::string Attempts(const ScenarioReport& report) {
  const auto& scheduler = report.scheduler;
  int64_t pods = 0;
  int64_t once = 0;
  int64_t attempts = 0;
  int64_t most = 0;
  for (const sim::AttemptsLine& line : report.attempts) {
    pods += line.pods;
    attempts += line.attempts * line.pods;
    most = std::max(most, line.attempts);
    if (line.attempts <= 1) once += line.pods;
  }
  std::string text = fmt::format("{} attempts, {} failed", Grouped(scheduler.attempts),
                                 Grouped(scheduler.failed_attempts));
  if (pods > 0) {
    text +=
        fmt::format("\n{} of the pods scheduled took one attempt, the most {}, on average {:.2f}",
                    PercentText(100.0 * static_cast<double>(once) / static_cast<double>(pods)),
                    Grouped(most), static_cast<double>(attempts) / static_cast<double>(pods));
  }
  text += fmt::format("\n{} pods scheduled per second on average, {} at the peak",
                      RateText(scheduler.mean_per_second), RateText(scheduler.peak_per_second));
  if (scheduler.preemptions > 0) {
    text += fmt::format("\n{} pods preempted by {} attempts", Grouped(report.pods.preempted),
                        Grouped(scheduler.preemptions));
  }
  if (scheduler.crashes > 0) {
    text += fmt::format("\nthe scheduler crashed {}",
                        scheduler.crashes == 1 ? "once" : Grouped(scheduler.crashes) + " times");
  }
  return text + "\n";
}

std::string Reasons(const ScenarioReport& report, const ScenarioTextOptions& o) {
  if (report.reasons.empty()) return "";
  term::Table table({"ATTEMPTS", "PENDING", "REASON"});
  table.Right(0);
  table.Right(1);
  for (const sim::ReasonLine& line : report.reasons) {
    table.Row({Grouped(line.attempts), Grouped(line.pending), Cut(line.reason, kColumns - 22)});
  }
  return table.Text(o.colour);
}

std::string Shares(const ScenarioReport& report, const ScenarioTextOptions& o) {
  term::Table table({"PERCENT", "MEAN", "PEAK", "END"});
  for (const size_t column : {1, 2, 3}) table.Right(column);
  const auto row = [&](const std::string& what, const sim::Summary& s) {
    table.Row({what, PercentText(s.mean), PercentText(s.peak), PercentText(s.end)});
  };
  for (const sim::Summary& s : report.utilization) row(s.what + " requested", s);
  row("free cpu stranded", report.fragmentation.cpu);
  row("free memory stranded", report.fragmentation.memory);
  return table.Text(o.colour) +
         fmt::format(
             "stranded: on nodes that cannot take a pod of {} cpu and {} memory;\n"
             "at the end {} such pods would fit\n",
             report.fragmentation.reference_cpu, report.fragmentation.reference_memory,
             Grouped(report.fragmentation.headroom));
}

std::string OverTime(const ScenarioReport& report, const ScenarioTextOptions& o) {
  if (report.samples.size() < 2) return "";
  const std::string end = LengthText(report.duration_seconds);
  std::string text =
      term::Toned(fmt::format("{:<{}}0s{:>{}}", "OVER TIME", kLabelWidth, end, kSparkWidth - 2),
                  term::Tone::kBold, o.colour) +
      "\n";
  const auto line = [&](std::string_view label, const std::function<double(const SamplePoint&)>& f,
                        double top, const std::function<std::string(double)>& show) {
    std::vector<double> values;
    for (const SamplePoint& sample : report.samples) values.push_back(f(sample));
    const double peak = *std::max_element(values.begin(), values.end());
    text += fmt::format("{:<{}}{}  peak {}\n", label, kLabelWidth,
                        Sparkline(values, kSparkWidth, top > 0 ? top : peak), show(peak));
  };
  const auto count = [](double n) { return Grouped(static_cast<int64_t>(n)); };
  line(
      "cpu requested", [](const auto& s) { return s.cpu; }, 100, PercentText);
  line(
      "memory requested", [](const auto& s) { return s.memory; }, 100, PercentText);
  line(
      "free cpu stranded", [](const auto& s) { return s.cpu_stranded; }, 100, PercentText);
  line(
      "nodes", [](const auto& s) { return static_cast<double>(s.nodes); }, 0, count);
  line(
      "pods with a node", [](const auto& s) { return static_cast<double>(s.bound); }, 0, count);
  line(
      "pods pending", [](const auto& s) { return static_cast<double>(s.pending); }, 0, count);
  line(
      "pods scheduled", [](const auto& s) { return static_cast<double>(s.scheduled); }, 0, count);
  line(
      "latency p99", [](const auto& s) { return s.p99; }, 0, LengthText);
  return text;
}

std::string Warnings(const ScenarioReport& report, const ScenarioTextOptions& o) {
  std::string text;
  for (const std::string& warning : report.warnings) {
    text += term::Toned("warning: " + Visible(warning), term::Tone::kWarn, o.colour) + "\n";
  }
  return text;
}

}  // namespace

std::string Sparkline(const std::vector<double>& values, size_t width, double top) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return std::string(width, ' ');
  std::string text;
  for (size_t i = 0; i < width; ++i) {
    const size_t from = i * values.size() / width;
    const size_t to = std::max(from + 1, (i + 1) * values.size() / width);
    double value = values[from];
    for (size_t j = from; j < to; ++j) value = std::max(value, values[j]);
    const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
    text += kBlocks[std::min<size_t>(7, static_cast<size_t>(share * 8))];
  }
  return text;
}

std::string ScenarioText(const ScenarioReport& report, const ScenarioTextOptions& options) {
  std::string text = Headline(report, options);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(Latency(report, options));
  add(Attempts(report));
  add(Pending(report, options));
  add(PendingWorkloads(report, options));
  add(Lost(report, options));
  add(Reasons(report, options));
  add(Shares(report, options));
  add(OverTime(report, options));
  add(Warnings(report, options));
  return text;
}

}  // namespace berth::cli

#include "bench/perf/command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <regex>
#include <vector>

#include <fmt/format.h>

#include "bench/perf/run.h"
#include "files/read.h"
#include "term/terminal.h"

namespace berth::bench {
namespace {

int Complain(const std::string& message) {
  fmt::print(stderr, "berth-bench: {}\n", message);
  return 1;
}

// std::regex reports what it cannot read by throwing.
std::optional<std::regex> Compile(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

size_t PodsOf(const PerfCase& test, const PerfWorkload& workload) {
  const auto ops = Resolve(test, workload);
  if (!ops) return 1;
  int64_t pods = 0;
  for (const PerfOp& op : *ops) {
    if (op.opcode == "createPods") pods += *op.count;
    if (op.opcode == "createPodSets") pods += *op.count * *op.pods->count;
  }
  return static_cast<size_t>(std::max<int64_t>(pods, 1));
}

void PrintJson(const std::string& name, const PerfWorkload& workload, const PerfOutcome& outcome) {
  if (!outcome.skipped.empty()) {
    fmt::print("{{\"workload\":\"{}\",\"skipped\":\"{}\"}}\n", name, outcome.skipped);
  }
  for (const PerfPhase& phase : outcome.phases) {
    const PerfCounters& c = phase.counters;
    fmt::print(
        "{{\"workload\":\"{}\",\"phase\":\"{}\",\"nodes\":{},\"pods\":{},\"without_node\":{},"
        "\"attempts\":{},\"failed_attempts\":{},\"pods_per_second\":{:.1f},"
        "\"us_per_attempt\":{:.3f},\"threshold\":{}}}\n",
        name, phase.name, outcome.nodes, c.bound, phase.without_node, c.attempts, c.failed_attempts,
        phase.PodsPerSecond(), phase.MicrosPerAttempt(), workload.threshold);
  }
  std::fflush(stdout);
}

void AddRows(const std::string& name, const PerfWorkload& workload, const PerfOutcome& outcome,
             term::Table* table) {
  for (const PerfPhase& phase : outcome.phases) {
    const PerfCounters& c = phase.counters;
    const double speed = phase.PodsPerSecond();
    const bool has_bar = workload.threshold > 0;
    table->Row({name, std::to_string(outcome.nodes), std::to_string(c.bound),
                std::to_string(phase.without_node), std::to_string(c.attempts),
                fmt::format("{:.0f}", speed), fmt::format("{:.1f}", phase.MicrosPerAttempt()),
                has_bar ? fmt::format("{:g}", workload.threshold) : "-",
                has_bar ? fmt::format("{:.0f}", speed / workload.threshold) : "-"});
  }
}

}  // namespace

int RunPerfCommand(const PerfCommand& command) {
  const auto pattern = Compile(command.pattern);
  if (!pattern) {
    return Complain(
        fmt::format("--scheduler-perf-workload: \"{}\" is no regular expression", command.pattern));
  }
  const auto text = files::ReadFile(command.file);
  if (!text) return Complain(text.error().Message());
  const auto cases = ParseSuite(*text);
  if (!cases) return Complain(cases.error().In(command.file).Message());
  const std::filesystem::path folder = std::filesystem::path(command.file).parent_path();
  const auto read = [&](const std::string& path) {
    return files::ReadFile((folder / path).lexically_normal().string());
  };

  std::vector<std::string> head{"WORKLOAD", "NODES",      "PODS",      "WITHOUT NODE", "ATTEMPTS",
                                "PODS/S",   "µs/ATTEMPT", "THRESHOLD", "TIMES"};
  term::Table table(head);
  for (size_t i = 1; i < head.size(); ++i) table.Right(i);
  std::string skipped;
  int code = 0;
  size_t matches = 0;
  for (const PerfCase& test : *cases) {
    for (const PerfWorkload& workload : test.workloads) {
      const std::string name = test.name + "/" + workload.name;
      if (!std::regex_search(name, *pattern)) continue;
      ++matches;
      term::Progress progress(name, PodsOf(test, workload));
      PerfOptions options{command.algorithm, command.executor, command.gates,
                          [&](int64_t bound) { progress.Update(static_cast<size_t>(bound)); }};
      const auto outcome = RunWorkload(test, workload, read, options);
      if (!outcome) {
        code = Complain(outcome.error()
                            .In(fmt::format("test case {}: workload {}", test.name, workload.name))
                            .In(command.file)
                            .Message());
      } else if (command.json) {
        PrintJson(name, workload, *outcome);
      } else {
        AddRows(name, workload, *outcome, &table);
        if (!outcome->skipped.empty()) {
          skipped += fmt::format("skipped: {}: {}\n", name, outcome->skipped);
        }
      }
    }
  }
  if (matches == 0) return Complain(command.file + ": no workload matches " + command.pattern);
  if (!command.json) {
    if (!table.Empty()) std::fputs(table.Text(term::UsesColour(stdout)).c_str(), stdout);
    std::fputs(skipped.c_str(), stdout);
  }
  return code;
}

}  // namespace berth::bench

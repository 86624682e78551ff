// berth-bench: the time from a popped pod to an assumed pod, on clusters of a given size.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/earlier.h"
#include "bench/gangs.h"
#include "bench/perf/command.h"
#include "bench/report/report.h"
#include "bench/workloads.h"
#include "cli/behaviour_flags.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "files/read.h"
#include "framework/classes/class_cache.h"
#include "framework/runtime/post_filter.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"
#include "term/flags.h"
#include "term/terminal.h"
#include "threads/worker_pool.h"

namespace berth::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string workload = "basic";
  int64_t nodes = 5000;
  int64_t pods = 10000;
  int64_t percentage = 100;
  int64_t threads = 1;
  int64_t seed = 0;
  std::string classes = "on";
  config::Behaviour behaviour;
  std::string compare;  // a file
  std::string report;   // a file
  std::string charts = ".";
  std::string scheduler_perf;
  std::string scheduler_perf_workload;
  bool gangs = false;
  int64_t gang_size = 0;
  int64_t domains = -1;
  int64_t repeats = 20;
  bool json = false;
  bool help = false;
};

struct Figures {
  std::string workload;
  double pods_per_second = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  double cpu_us = 0;  // of all threads, per pod
  size_t failed = 0;
  int64_t peak_rss_bytes = 0;
  framework::ClassCache::Statistics classes;
};

int64_t PeakRss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void AddNamespaces(cluster::Cluster& cluster) {
  for (const char* name : {"sched-0", "sched-1"}) {
    api::Namespace ns;
    ns.metadata.name = name;
    cluster.MutableObjects().namespaces.Set(std::move(ns));
  }
}

// The victims are gone and the pod is where they were, as if all of that had been waited for.
void Preempt(cluster::Cluster& cluster, cluster::PodId pod,
             const framework::PostFilterResult& proposal) {
  if (proposal.nomination != framework::PostFilterResult::Nomination::kSet) return;
  for (const cluster::PodId victim : proposal.victims) cluster.RemovePod(victim);
  cluster.Place(pod, cluster.FindNode(proposal.nominated_node), /*assumed=*/true);
}

scheduler::AlgorithmOptions AlgorithmOptionsOf(const Options& o) {
  scheduler::AlgorithmOptions options;
  options.seed = static_cast<uint64_t>(o.seed);
  options.classes = o.classes == "on";
  return options;
}

Result<Figures> Measure(const Workload& workload, const Options& o) {
  config::KubeSchedulerConfiguration config = config::Default(o.behaviour);
  if (!workload.config.empty()) {
    auto own = config::Load(workload.config, o.behaviour);
    if (!own) return Fail(own.error().In(std::string(workload.name)));
    config = std::move(*own);
  }
  config.percentage_of_nodes_to_score = static_cast<int32_t>(o.percentage);
  const auto inputs = scheduler::InputsOf(config, o.behaviour);
  if (!inputs) return Fail(inputs.error().In(std::string(workload.name)));
  cluster::Cluster cluster;
  cluster.Track(*inputs);
  AddNamespaces(cluster);
  const auto nodes = static_cast<size_t>(o.nodes);
  for (size_t i = 0; i < nodes; ++i) cluster.SetNode(MakeNode(i));
  // As in the suite the templates come from, every fifth node runs a pod of the same kind already.
  const size_t warm = workload.preempts ? 0 : nodes / 5;
  if (workload.setup != nullptr) {
    workload.setup(nodes, warm + static_cast<size_t>(o.pods), cluster);
  }
  for (size_t i = 0; i < warm; ++i) {
    cluster.Place(cluster.AddPod(MakePod(i, workload)), static_cast<cluster::NodeIndex>(i), true);
  }
  std::vector<cluster::PodId> pending;
  for (size_t i = 0; i < static_cast<size_t>(o.pods); ++i) {
    pending.push_back(cluster.AddPod(MakePod(warm + i, workload)));
  }

  std::unique_ptr<threads::WorkerPool> pool;
  if (o.threads > 1) pool = std::make_unique<threads::WorkerPool>(static_cast<size_t>(o.threads));
  auto profiles = scheduler::ProfileSet::Make(config, o.behaviour, cluster, pool.get());
  if (!profiles) return Fail(profiles.error());
  framework::Cycle* cycle = profiles->CycleFor(config::kDefaultSchedulerName);
  scheduler::Algorithm algorithm(AlgorithmOptionsOf(o));
  scheduler::Attempt attempt;
  // A few cycles that are not measured.
  for (int i = 0; i < 20; ++i) {
    attempt.Begin(*cycle, cluster, pending.front());
    attempt.Decide(algorithm);
  }

  Figures figures;
  figures.workload = workload.name;
  std::vector<double> micros;
  micros.reserve(pending.size());
  term::Progress progress(workload.name, pending.size());
  const double cpu_before = CpuSeconds();
  for (const cluster::PodId pod : pending) {
    if (workload.between != nullptr) workload.between(micros.size(), cluster);
    const auto start = Clock::now();
    attempt.Begin(*cycle, cluster, pod);
    framework::PostFilterResult proposal;
    if (attempt.Decide(algorithm) == scheduler::Outcome::kScheduled) {
      const framework::Status reserved = attempt.Reserve(attempt.decision().node);
      if (!reserved.Ok()) return Fail(fmt::format("{} could not reserve", reserved.plugin()));
    } else if (!workload.preempts ||
               !framework::RunPostFilter(*cycle, cluster, attempt.decision().diagnosis, &proposal)
                    .Ok()) {
      ++figures.failed;
    }
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    Preempt(cluster, pod, proposal);
    progress.Update(micros.size());
  }
  figures.cpu_us = (CpuSeconds() - cpu_before) * 1e6 / static_cast<double>(pending.size());
  double sum = 0;
  for (const double m : micros) sum += m;
  std::sort(micros.begin(), micros.end());
  figures.mean_us = sum / static_cast<double>(micros.size());
  figures.pods_per_second = 1e6 / figures.mean_us;
  figures.p50_us = micros[micros.size() / 2];
  figures.p99_us = micros[micros.size() * 99 / 100];
  figures.peak_rss_bytes = PeakRss();
  figures.classes = cycle->classes().statistics();
  return figures;
}

std::string Json(const Figures& f, const Options& o) {
  return fmt::format(
      "{{\"workload\":\"{}\",\"nodes\":{},\"pods\":{},\"percentage\":{},\"threads\":{},"
      "\"classes\":\"{}\",\"from_classes\":{},\"class_builds\":{},"
      "\"pods_per_second\":{:.1f},\"mean_us\":{:.3f},\"p50_us\":{:.3f},\"p99_us\":{:.3f},"
      "\"cpu_us\":{:.3f},\"failed\":{},\"peak_rss_bytes\":{}}}",
      f.workload, o.nodes, o.pods, o.percentage, o.threads, o.classes, f.classes.answers,
      f.classes.builds, f.pods_per_second, f.mean_us, f.p50_us, f.p99_us, f.cpu_us, f.failed,
      f.peak_rss_bytes);
}

int PrintReport(const Options& o) {
  const auto text = files::ReadFile(o.report);
  const auto lines = text ? ParseReport(*text) : Fail(text.error());
  const auto markdown = lines ? WriteReport(*lines, o.charts) : Fail(lines.error().In(o.report));
  if (!markdown) {
    fmt::print(stderr, "berth-bench: {}\n", markdown.error().Message());
    return 1;
  }
  std::fputs(markdown->c_str(), stdout);
  return 0;
}

int Run(const std::vector<std::string>& args) {
  Options o;
  term::Flags flags;
  flags.Add("workload", "NAME", "workload to run: one of those below, or all (default basic)",
            [&](const std::string& name) -> Result<void> {
              const auto known = Workloads();
              const auto is_it = [&](const Workload& w) { return w.name == name; };
              if (name != "all" && std::none_of(known.begin(), known.end(), is_it)) {
                return Fail(fmt::format("unknown workload {}; --help lists them", name));
              }
              o.workload = name;
              return {};
            });
  flags.AddNumber("nodes", "N", "number of nodes (default 5000)", 1, 4'000'000, &o.nodes);
  flags.AddNumber("pods", "N", "number of pods to schedule and measure (default 10000)", 1,
                  10'000'000, &o.pods);
  flags.AddNumber("percentage", "N", "percentageOfNodesToScore (default 100: all)", 0, 100,
                  &o.percentage);
  flags.AddNumber("threads", "N", "threads for wide scans (default 1)", 1, 256, &o.threads);
  flags.AddNumber("seed", "N", "seed of the choice among equal nodes (default 0)", 0, INT64_MAX,
                  &o.seed);
  flags.AddChoice("classes", {"on", "off"}, "cache results per class of equal pods (default on)",
                  &o.classes);
  cli::BehaviourFlags behaviour;
  behaviour.Add(flags);
  flags.AddText("compare", "FILE", "earlier output of --json: compare medians", &o.compare);
  flags.AddText("report", "FILE", "earlier output of --json: print Markdown, draw charts",
                &o.report);
  flags.AddText("charts", "FOLDER", "folder for the charts of --report (default .)", &o.charts);
  flags.AddText("scheduler-perf", "FILE",
                "run the workloads of a performance-config.yaml of scheduler_perf",
                &o.scheduler_perf);
  flags.AddText("scheduler-perf-workload", "REGEX",
                "run only workloads whose TESTCASE/WORKLOAD matches", &o.scheduler_perf_workload);
  flags.AddSwitch("gangs", "measure cycles of pod groups instead of pods", &o.gangs);
  flags.AddNumber("gang-size", "N", "with --gangs: only groups of 8, 100 or 1000 pods", 0, 1000,
                  &o.gang_size);
  flags.AddNumber("domains", "N",
                  "with --gangs: only with 0 (no topology), 1, 10, 100, 500 or 2000 domains", 0,
                  2000, &o.domains);
  flags.AddNumber("repeats", "N", "with --gangs: cycles per row (default 20)", 1, 1'000'000,
                  &o.repeats);
  flags.AddSwitch("json", "print one JSON object per workload instead of a table", &o.json);
  flags.AddSwitch("h,help", "print this help", &o.help);
  std::vector<std::string> rest;
  auto parsed = flags.Parse(args, &rest);
  if (parsed && !rest.empty()) parsed = Fail("unexpected argument " + rest.front());
  if (!parsed) {
    fmt::print(stderr, "berth-bench: {}\n", parsed.error().Message());
    return 1;
  }
  if (o.help) {
    fmt::print(
        "Measures scheduling cycles, from popped pod to assumed pod.\n\nflags:\n{}\nworkloads:\n",
        flags.Help());
    for (const Workload& w : Workloads()) fmt::print("  {:<28}  {}\n", w.name, w.help);
    return 0;
  }
  const auto gates = behaviour.Gates("berth-bench");
  if (!gates) {
    fmt::print(stderr, "berth-bench: {}\n", gates.error().Message());
    return 1;
  }
  o.behaviour = config::Behaviour(*gates);
  if (!o.report.empty()) return PrintReport(o);
  if (!o.scheduler_perf.empty()) {
    std::unique_ptr<threads::WorkerPool> pool;
    if (o.threads > 1) pool = std::make_unique<threads::WorkerPool>(static_cast<size_t>(o.threads));
    return RunPerfCommand({.file = o.scheduler_perf,
                           .pattern = o.scheduler_perf_workload,
                           .algorithm = AlgorithmOptionsOf(o),
                           .executor = pool.get(),
                           .gates = *gates,
                           .json = o.json});
  }
  if (o.gangs) {
    return RunGangs({.nodes = static_cast<size_t>(o.nodes),
                     .repeats = static_cast<size_t>(o.repeats),
                     .size = static_cast<size_t>(o.gang_size),
                     .domains = o.domains < 0 ? SIZE_MAX : static_cast<size_t>(o.domains),
                     .algorithm = AlgorithmOptionsOf(o),
                     .gates = *gates,
                     .json = o.json});
  }
  Earlier earlier;
  if (!o.compare.empty()) {
    const auto text = files::ReadFile(o.compare);
    auto read = text ? Earlier::Parse(*text) : Fail(text.error());
    if (!read) {
      fmt::print(stderr, "berth-bench: {}: {}\n", o.compare, read.error().Message());
      return 1;
    }
    earlier = std::move(*read);
  }
  std::vector<std::string> head{"WORKLOAD", "NODES",  "PODS",   "PODS/S", "MEAN µs",
                                "P50 µs",   "P99 µs", "CPU µs", "FAILED"};
  if (!o.compare.empty()) head.insert(head.end(), {"P50 THEN", "TIMES AS FAST"});
  term::Table table(head);
  for (size_t i = 1; i < head.size(); ++i) table.Right(i);
  for (const Workload& workload : Workloads()) {
    if (o.workload != "all" && o.workload != workload.name) continue;
    const auto figures = Measure(workload, o);
    if (!figures) {
      fmt::print(stderr, "berth-bench: {}\n", figures.error().Message());
      return 1;
    }
    if (o.json) {
      fmt::print("{}\n", Json(*figures, o));
      std::fflush(stdout);
      continue;
    }
    std::vector<std::string> row{figures->workload,
                                 std::to_string(o.nodes),
                                 std::to_string(o.pods),
                                 fmt::format("{:.0f}", figures->pods_per_second),
                                 fmt::format("{:.1f}", figures->mean_us),
                                 fmt::format("{:.1f}", figures->p50_us),
                                 fmt::format("{:.1f}", figures->p99_us),
                                 fmt::format("{:.1f}", figures->cpu_us),
                                 std::to_string(figures->failed)};
    if (!o.compare.empty()) {
      const auto then = earlier.Median(figures->workload, o.nodes);
      row.push_back(then ? fmt::format("{:.1f}", *then) : "-");
      row.push_back(then ? fmt::format("{:.2f}", *then / figures->p50_us) : "-");
    }
    table.Row(row);
  }
  if (!o.json) std::fputs(table.Text(term::UsesColour(stdout)).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) { return berth::bench::Run({argv + 1, argv + argc}); }

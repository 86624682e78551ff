#include "cli/simulate.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/plugins.h"
#include "cli/report_text.h"
#include "cli/scenario/command.h"
#include "cli/trace/command.h"
#include "files/read.h"
#include "sim/example.h"
#include "sim/report.h"
#include "term/flags.h"
#include "term/terminal.h"
#include "threads/worker_pool.h"

namespace berth::cli {
namespace {

constexpr int kAllPlaced = 0;
constexpr int kSomeUnschedulable = 1;
constexpr int kBadInput = 2;

constexpr std::string_view kIntro =
    "Places the pending pods of a cluster as kube-scheduler would, without a cluster.\n"
    "\n"
    "usage: berth simulate -f FILE|DIR|- [-f ...] [flags]\n"
    "       berth simulate --scenario FILE [--duration 1h] [--html FILE] [flags]\n"
    "       berth simulate --trace-nodes FILE --trace-pods FILE [--trace-config FILE|DIR ...]\n"
    "\n"
    "Reads the output of `kubectl get nodes,pods,... -o yaml` (or json): lists, several "
    "documents,\n"
    "also gzipped. Hand-written manifests work as well: defaults are added, and Deployments,\n"
    "StatefulSets, DaemonSets, Jobs and CronJobs are expanded into pods. Objects missing from the\n"
    "input are treated as nonexistent.\n"
    "\n"
    "With --scenario, the events of a file happen to the cluster in virtual time. The report "
    "shows\n"
    "latencies, utilisation and fragmentation over time.\n"
    "\n"
    "With --trace-nodes and --trace-pods, the pods of a GPU trace (openb CSV files) arrive until\n"
    "the cluster is full, once per configuration. The report compares allocated GPUs,\n"
    "fragmentation and power over the arrived load.\n"
    "\n";

constexpr std::string_view kExamples =
    "\n"
    "examples:\n"
    "  kubectl get nodes,pods -A -o yaml | berth simulate -f -\n"
    "  berth simulate -f cluster.yaml.gz -f new-deployment.yaml -o wide\n"
    "  berth simulate -f cluster.yaml -f web.yaml --fill deployment/web\n"
    "  berth simulate --scenario day.yaml --duration 8h --html day.html\n"
    "  berth simulate --trace-nodes openb_nodes.csv --trace-pods openb_pods.csv \\\n"
    "    --trace-config examples/strategies --html trace.html\n"
    "\n"
    "exit code: 0 all pods placed, 1 some pods not placed or lost, 2 bad flags or input\n";

struct Options {
  std::vector<std::string> files;
  std::string config;
  std::vector<std::string> plugin_paths;
  std::string output = "table";
  std::string fill;
  std::string scenario;
  std::string html;
  std::string record_dir;
  std::string trace_nodes;
  std::string trace_pods;
  std::vector<std::string> trace_configs;
  int64_t trace_load = 130;
  int64_t trace_runs = 1;
  bool trace_all_nodes = false;
  std::optional<int64_t> duration;
  std::optional<int64_t> seed;
  int64_t threads = 1;
  bool summary = false;
  bool adaptive_sampling = false;
  bool demo = false;
  bool help = false;
  BehaviourFlags behaviour;
};

Result<void> ParseSeed(const std::string& text, std::optional<int64_t>* out) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) {
    return Fail(fmt::format("\"{}\" is not a whole number from 0 to {}", text, INT64_MAX));
  }
  *out = number;
  return {};
}

Result<void> ParseDuration(const std::string& text, std::optional<int64_t>* out) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kYear = 366 * 24 * 3600 * kSecond;
  const auto duration = api::Duration::Parse(text);
  if (!duration || duration->ns < kSecond || duration->ns > kYear) {
    return Fail(fmt::format("\"{}\" is not a duration from 1s to a year; write 90m or 8h", text));
  }
  *out = duration->ns;
  return {};
}

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddList("f,filename", "FILE|DIR|-", "manifests to read; may be repeated", &o->files);
  flags.AddText("config", "FILE",
                "KubeSchedulerConfiguration (v1): profiles, plugins, weights, args", &o->config);
  o->behaviour.Add(flags);
  flags.AddList("plugin-path", "FILE|DIR",
                "shared objects with plugins that the configuration may enable; may be repeated",
                &o->plugin_paths);
  flags.Add("seed", "N",
            "seed of random choices, such as among nodes with equal scores (default 0)",
            [o](const std::string& text) { return ParseSeed(text, &o->seed); });
  flags.AddChoice("o,output", {"table", "wide", "json", "yaml"},
                  "wide, json and yaml include the score of every plugin", &o->output);
  flags.AddText("fill", "WORKLOAD", "show how many more replicas fit, and what stops the next one",
                &o->fill);
  flags.AddSwitch("summary", "print totals per workload instead of a line per pod", &o->summary);
  flags.AddSwitch("adaptive-sampling",
                  "with percentageOfNodesToScore 0, score as few nodes as kube-scheduler does",
                  &o->adaptive_sampling);
  flags.AddNumber("threads", "N", "threads for scans of very large clusters (default 1)", 1, 256,
                  &o->threads);
  flags.AddSwitch("demo", "use a built-in example of 1,000 nodes and 10,000 pods", &o->demo);
  flags.AddText("scenario", "FILE", "simulate the events of this file in virtual time",
                &o->scenario);
  flags.Add("duration", "TIME",
            "virtual time to simulate, such as 90m or 8h, instead of the scenario's",
            [o](const std::string& text) { return ParseDuration(text, &o->duration); });
  flags.AddText("record-dir", "DIR", "with --scenario: record every decision, for berth replay",
                &o->record_dir);
  flags.AddText("trace-nodes", "FILE", "nodes of a trace to fill, CSV (openb_node_list)",
                &o->trace_nodes);
  flags.AddText("trace-pods", "FILE", "pods of the trace, CSV (openb_pod_list)", &o->trace_pods);
  flags.AddList("trace-config", "FILE|DIR",
                "configurations to compare on the trace (default: the default one); may be "
                "repeated",
                &o->trace_configs);
  flags.AddNumber("trace-load", "PERCENT",
                  "load that arrives, in percent of all GPUs (default 130)", 1, 1000,
                  &o->trace_load);
  flags.AddNumber("trace-runs", "N",
                  "runs with different arrivals, whose mean is shown (default 1)", 1, 1000,
                  &o->trace_runs);
  flags.AddSwitch("trace-all-nodes", "use nodes without GPUs too", &o->trace_all_nodes);
  flags.AddText("html", "FILE",
                "write the report of the scenario or trace to this file, with charts", &o->html);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

int Complain(const Error& error) {
  fmt::print(stderr, "berth simulate: {}\n", Visible(error.Message(), "\n"));
  return kBadInput;
}

Result<void> LoadWorld(const Options& options, sim::World* world) {
  if (options.demo) {
    const auto made = sim::ExampleCluster(
        1000, 10000, [&](api::Object object) { return world->Add(std::move(object)); });
    if (!made) return made;
  }
  if (auto read = ReadManifests(options.files, world); !read) return read;
  return world->Finish();
}

void WarnAboutInput(const sim::World& world) {
  for (const auto& [kind, count] : world.Ignored()) {
    fmt::print(stderr, "berth simulate: {} {} ignored: scheduling does not read them\n", count,
               kind.empty() ? "objects without a kind" : Visible(kind));
  }
  if (world.GetCluster().NodeCount() == 0) {
    fmt::print(stderr, "berth simulate: the input has no nodes; add `kubectl get nodes -o yaml`\n");
  }
}

Result<void> CheckTrace(const Options& o) {
  if (o.trace_nodes.empty()) return Fail("--trace-pods requires --trace-nodes");
  if (o.trace_pods.empty()) return Fail("--trace-nodes requires --trace-pods");
  const auto alien = [](std::string_view flag) {
    return Fail(fmt::format("{} cannot be used with --trace-nodes", flag));
  };
  if (!o.scenario.empty()) return alien("--scenario");
  if (!o.files.empty()) return alien("-f");
  if (!o.config.empty()) return Fail("give configurations for the trace with --trace-config");
  if (o.duration) return alien("--duration");
  if (!o.fill.empty()) return alien("--fill");
  if (o.demo) return alien("--demo");
  if (o.summary) return alien("--summary");
  if (o.threads > 1) return alien("--threads");
  if (o.output == "wide") return alien("-o wide");
  if (!o.record_dir.empty()) return alien("--record-dir");
  return {};
}

// What only one of the ways to simulate understands.
Result<void> CheckMode(const Options& o) {
  if (!o.trace_nodes.empty() || !o.trace_pods.empty()) return CheckTrace(o);
  if (!o.trace_configs.empty()) return Fail("--trace-config requires --trace-nodes");
  if (o.scenario.empty()) {
    if (o.duration) return Fail("--duration requires --scenario");
    if (!o.record_dir.empty()) return Fail("--record-dir requires --scenario");
    if (!o.html.empty()) return Fail("--html requires --scenario or --trace-nodes");
    return {};
  }
  const auto alien = [](std::string_view flag) {
    return Fail(fmt::format("{} cannot be used with --scenario", flag));
  };
  if (!o.fill.empty()) return alien("--fill");
  if (o.demo) return alien("--demo");
  if (o.summary) return alien("--summary");
  if (o.threads > 1) return alien("--threads");
  if (o.output == "wide") return alien("-o wide");
  return {};
}

int SimulateScenario(const Options& o, const config::Behaviour& behaviour) {
  ScenarioCommand command;
  const auto gates = o.behaviour.Gates("berth simulate");
  if (!gates) return Complain(gates.error());
  command.gates = *gates;
  command.behaviour = behaviour;
  command.scenario = o.scenario;
  command.files = o.files;
  command.config = o.config;
  command.plugin_paths = o.plugin_paths;
  command.output = o.output;
  command.html = o.html;
  command.record_dir = o.record_dir;
  command.duration = o.duration;
  command.seed = o.seed;
  command.adaptive_sampling = o.adaptive_sampling;
  const auto pending = RunScenarioCommand(command);
  if (!pending) return Complain(pending.error());
  return *pending > 0 ? kSomeUnschedulable : kAllPlaced;
}

int SimulateTrace(const Options& o, const config::Behaviour& behaviour) {
  TraceCommand command;
  command.nodes = o.trace_nodes;
  command.pods = o.trace_pods;
  command.configs = o.trace_configs;
  command.plugin_paths = o.plugin_paths;
  command.output = o.output;
  command.html = o.html;
  command.load_percent = o.trace_load;
  command.runs = o.trace_runs;
  command.all_nodes = o.trace_all_nodes;
  command.seed = o.seed;
  command.adaptive_sampling = o.adaptive_sampling;
  command.behaviour = behaviour;
  if (auto ok = RunTraceCommand(command); !ok) return Complain(ok.error());
  return kAllPlaced;
}

}  // namespace

int Simulate(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  if (auto ok = flags.Parse(args, &rest); !ok) {
    fmt::print(stderr, "berth simulate: {}\nTry 'berth simulate --help'.\n", ok.error().Message());
    return kBadInput;
  }
  if (options.help) {
    fmt::print("{}flags:\n{}{}", kIntro, flags.Help(), kExamples);
    return kAllPlaced;
  }
  if (!rest.empty())
    return Complain(Error("unexpected argument " + rest.front() + "; give manifests with -f"));
  if (auto ok = CheckMode(options); !ok) return Complain(ok.error());
  const auto behaviour = options.behaviour.Make("berth simulate");
  if (!behaviour) return Complain(behaviour.error());
  if (!options.trace_nodes.empty()) return SimulateTrace(options, *behaviour);
  if (!options.scenario.empty()) return SimulateScenario(options, *behaviour);
  if (options.files.empty() && !options.demo) {
    return Complain(Error("nothing to read; give manifests with -f, or --demo for an example"));
  }

  const auto seed = static_cast<uint64_t>(options.seed.value_or(0));
  const auto config = ReadConfig(options.config, *behaviour, "berth simulate");
  if (!config) return Complain(config.error());
  const auto plugins = LoadPlugins(options.plugin_paths, "berth simulate");
  if (!plugins) return Complain(plugins.error());
  const auto inputs = scheduler::InputsOf(*config, *behaviour, plugins->extra);
  if (!inputs) return Complain(inputs.error());
  sim::World world(*behaviour);
  world.GetCluster().Track(*inputs);
  if (auto ok = LoadWorld(options, &world); !ok) return Complain(ok.error());
  WarnAboutInput(world);
  if (world.GetCluster().NodeCount() == 0 && world.GetCluster().PodCountTotal() == 0) {
    return Complain(Error("the input has neither nodes nor pods"));
  }

  std::unique_ptr<threads::WorkerPool> pool;
  if (options.threads > 1)
    pool = std::make_unique<threads::WorkerPool>(static_cast<size_t>(options.threads));
  auto profiles = scheduler::ProfileSet::Make(*config, *behaviour, world.GetCluster(), pool.get(),
                                              seed, plugins->extra);
  if (!profiles) return Complain(profiles.error());

  sim::PlacementOptions placement_options;
  placement_options.algorithm.adaptive_sampling = options.adaptive_sampling;
  placement_options.algorithm.seed = seed;
  placement_options.keep_scores = options.output != "table";
  sim::Placement placement(world, *profiles, placement_options);

  const sim::Usage before = sim::MeasureUsage(world.GetCluster());
  const auto start = std::chrono::steady_clock::now();
  std::vector<sim::PodOutcome> outcomes;
  {
    term::Progress progress("scheduling", world.Pending().size());
    outcomes = placement.ScheduleAll([&](size_t done) { progress.Update(done); });
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::optional<sim::FillReport> fill;
  if (!options.fill.empty()) {
    term::Progress progress("filling", 0);
    auto filled = sim::Fill(world, placement, options.fill, INT64_MAX,
                            [&](size_t done) { progress.Update(done); });
    if (!filled) return Complain(filled.error());
    fill = std::move(*filled);
  }
  const sim::Usage after = sim::MeasureUsage(world.GetCluster());

  sim::Report report =
      sim::MakeReport(world.GetCluster(), outcomes, placement.groups(), before, after);
  report.fill = std::move(fill);
  if (options.output == "json" || options.output == "yaml") {
    const std::string json = api::ToJson(report);
    if (options.output == "json") {
      fmt::print("{}\n", json);
    } else {
      const auto yaml = api::JsonToYaml(json);
      if (!yaml) return Complain(yaml.error());
      fmt::print("{}", *yaml);
    }
  } else {
    ReportTextOptions text;
    text.wide = options.output == "wide";
    text.summary = options.summary || (options.demo && !text.wide);
    text.colour = term::UsesColour(stdout);
    text.seconds = seconds;
    std::fputs(ReportText(report, text).c_str(), stdout);
  }
  return report.unschedulable + report.gated + report.preempted + report.errors > 0
             ? kSomeUnschedulable
             : kAllPlaced;
}

}  // namespace berth::cli

#include "cli/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/plan/text.h"
#include "plan/consolidate.h"
#include "plan/drain.h"
#include "plan/grow.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr int kWorks = 0;
constexpr int kDoesNotWork = 1;
constexpr int kBadInput = 2;
constexpr int64_t kMostNodes = 100'000;

constexpr std::string_view kIntro =
    "Shows what happens to the pods of a cluster if nodes are drained, lost, replaced or added:\n"
    "which pods move where, which have no place and why, and which budgets are in the way. The\n"
    "answer comes from the engine that schedules the pods later. Nothing is changed anywhere.\n"
    "\n"
    "usage: berth plan drain       -f DUMP NODE...|--selector S|--pool P\n"
    "       berth plan outage      -f DUMP NODE...|--selector S|--pool P|--zone Z\n"
    "       berth plan upgrade     -f DUMP --pool P [--surge 10%]\n"
    "       berth plan shrink      -f DUMP --pool P --count N\n"
    "       berth plan grow        -f DUMP --like NODE --count N\n"
    "       berth plan fit         -f DUMP -f workload.yaml [--like NODE]\n"
    "       berth plan consolidate -f DUMP [--pool P] [--max-disruption N]\n"
    "\n"
    "DUMP is the output of `kubectl get nodes,pods,pdb,rs,deploy,sts,ds,job,pvc,pv,sc,csinode -A\n"
    "-o yaml` (or json), also gzipped.\n"
    "\n";

constexpr std::string_view kExamples =
    "\n"
    "examples:\n"
    "  berth plan drain -f cluster.yaml --selector pool=spot\n"
    "  berth plan outage -f cluster.yaml --zone eu-1a\n"
    "  berth plan consolidate -f cluster.yaml -o script > consolidate.sh\n"
    "\n"
    "exit code: 0 every pod has a place, 1 some have none or may not move, 2 bad flags or input\n";

struct Options {
  std::vector<std::string> files;
  std::string config;
  std::string selector;
  std::string pool;
  std::string zone;
  std::string topology;
  std::string like;
  std::string surge = "10%";
  std::string output = "table";
  int64_t count = 0;
  int64_t max_disruption = INT64_MAX;
  int64_t deadline = 10;
  int64_t seed = 0;
  bool help = false;
  BehaviourFlags behaviour;
};

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddList("f,filename", "FILE|DIR|-", "manifests to read; may be repeated", &o->files);
  flags.AddText("l,selector", "SELECTOR", "nodes with these labels, such as pool=spot",
                &o->selector);
  flags.AddText("pool", "NAME", "nodes of the pool, by the label of the provider or `pool`",
                &o->pool);
  flags.AddText("zone", "NAME", "nodes of the zone", &o->zone);
  flags.AddText("topology", "KEY=VALUE", "nodes with this topology label", &o->topology);
  flags.AddText("like", "NODE", "grow, fit: the node that new ones are like", &o->like);
  flags.AddNumber("count", "N", "shrink, grow: how many nodes", 1, kMostNodes, &o->count);
  flags.AddText("surge", "N|P%", "upgrade: nodes to add before as many are drained (default 10%)",
                &o->surge);
  flags.AddNumber("max-disruption", "N", "consolidate: pods that may be evicted in all", 0,
                  INT64_MAX, &o->max_disruption);
  flags.AddNumber("deadline", "SECONDS", "consolidate: when to stop searching (default 10)", 1,
                  86400, &o->deadline);
  flags.AddNumber("seed", "N", "seed of random choices (default 0)", 0, INT64_MAX, &o->seed);
  flags.AddText("config", "FILE", "KubeSchedulerConfiguration (v1)", &o->config);
  o->behaviour.Add(flags);
  flags.AddChoice("o,output", {"table", "wide", "json", "yaml", "script"},
                  "wide lists every pod; script is for kubectl", &o->output);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

int Complain(const Error& error) {
  fmt::print(stderr, "berth plan: {}\n", Visible(error.Message(), "\n"));
  return kBadInput;
}

int Misused(const Error& error) {
  fmt::print(stderr, "berth plan: {}\nTry 'berth plan --help'.\n", Visible(error.Message()));
  return kBadInput;
}

// The cluster of the input with everything that decides about it.
struct Setting {
  explicit Setting(const config::Behaviour& behaviour) : inventory(behaviour) {}

  plan::Inventory inventory;
  std::optional<scheduler::ProfileSet> profiles;
  std::unique_ptr<plan::Mover> mover;
};

Result<std::unique_ptr<Setting>> Read(const Options& o, const config::Behaviour& behaviour) {
  const auto config = ReadConfig(o.config, behaviour, "berth plan");
  if (!config) return Fail(config.error());
  auto setting = std::make_unique<Setting>(behaviour);
  plan::Inventory& inventory = setting->inventory;
  const auto read =
      ReadObjects(o.files, [&](api::Object object) { return inventory.Add(std::move(object)); });
  if (!read) return Fail(read.error());
  if (auto ok = inventory.Finish(); !ok) return Fail(ok.error());
  if (inventory.cluster().NodeCount() == 0) {
    return Fail("the input has no nodes; add `kubectl get nodes -o yaml`");
  }
  const auto seed = static_cast<uint64_t>(o.seed);
  auto profiles =
      scheduler::ProfileSet::Make(*config, behaviour, inventory.cluster(), nullptr, seed);
  if (!profiles) return Fail(profiles.error());
  setting->profiles = std::move(*profiles);
  scheduler::AlgorithmOptions algorithm;
  algorithm.seed = seed;
  setting->mover = std::make_unique<plan::Mover>(inventory, *setting->profiles, algorithm);
  return setting;
}

// Labels that name the pool of a node, by provider.
constexpr std::string_view kPoolLabels[] = {
    "pool",
    "nodepool",
    "node-pool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "karpenter.sh/nodepool",
};

Result<std::vector<std::string>> ByLabel(const plan::Inventory& inventory, std::string_view key,
                                         std::string_view value) {
  api::Selector selector;
  selector.Add(api::Requirement::Equal(key, value));
  return inventory.Select(selector);
}

Result<std::vector<std::string>> ByPool(const plan::Inventory& inventory, const std::string& pool) {
  for (const std::string_view key : kPoolLabels) {
    auto nodes = ByLabel(inventory, key, pool);
    if (!nodes->empty()) return nodes;
  }
  return Fail(fmt::format("no node is in a pool {}; choose nodes with --selector", pool));
}

// The nodes that the command line chooses; all of them if it chooses none and `or_all`.
Result<std::vector<std::string>> Chosen(const Options& o, const plan::Inventory& inventory,
                                        const std::vector<std::string>& names, bool or_all) {
  const int ways = !names.empty() + !o.selector.empty() + !o.pool.empty() + !o.zone.empty() +
                   !o.topology.empty();
  if (ways > 1) return Fail("choose nodes by one of names, --selector, --pool, --zone, --topology");
  if (ways == 0 && or_all) return inventory.Select(api::Selector());
  if (ways == 0) return Fail("choose nodes: by name, or with --selector, --pool or --zone");
  for (const std::string& name : names) {
    if (inventory.FindNode(name) == nullptr) return Fail("no node " + name + " in the input");
  }
  if (!names.empty()) return names;
  Result<std::vector<std::string>> nodes;
  std::string what;
  if (!o.pool.empty()) return ByPool(inventory, o.pool);
  if (!o.zone.empty()) {
    nodes = ByLabel(inventory, "topology.kubernetes.io/zone", o.zone);
    what = "in zone " + o.zone;
  } else if (!o.topology.empty()) {
    const size_t equals = o.topology.find('=');
    if (equals == std::string::npos) return Fail("--topology: write KEY=VALUE");
    nodes = ByLabel(inventory, o.topology.substr(0, equals), o.topology.substr(equals + 1));
    what = "with " + o.topology;
  } else {
    const auto selector = api::Selector::Parse(o.selector);
    if (!selector) return Fail(selector.error().In("--selector"));
    nodes = inventory.Select(*selector);
    what = "matching " + o.selector;
  }
  if (nodes->empty()) return Fail("no node " + what + " in the input");
  return nodes;
}

// "3" or "10%" of `nodes`, at least one.
Result<size_t> ParseSurge(const std::string& text, size_t nodes) {
  int64_t number = 0;
  const bool percent = text.ends_with('%');
  const char* end = text.data() + text.size() - (percent ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > kMostNodes) {
    return Fail(fmt::format("--surge: \"{}\" is not a number of nodes, or a percentage", text));
  }
  const auto count = static_cast<size_t>(number);
  return percent ? std::max<size_t>(1, (nodes * count + 99) / 100) : count;
}

// One node of every type: by instance type where nodes have that label, otherwise by what they
// offer and repel.
std::vector<std::string> NodeTypes(const plan::Inventory& inventory) {
  std::set<std::string> seen;
  std::vector<std::string> types;
  for (const std::string& name : inventory.Select(api::Selector())) {
    const api::Node& node = *inventory.FindNode(name);
    const std::string* type =
        api::FindValue(node.metadata.labels, "node.kubernetes.io/instance-type");
    std::string key = type != nullptr ? *type : std::string();
    if (type == nullptr) {
      for (const auto& [resource, amount] : node.status.allocatable) {
        key += fmt::format("{}={},", resource, amount.String());
      }
    }
    for (const api::Taint& taint : node.spec.taints) {
      if (!taint.key.starts_with("node.kubernetes.io/")) key += taint.key + taint.value;
    }
    if (seen.insert(key).second) types.push_back(name);
  }
  return types;
}

// `fit` without --like: the plan of the type that places most pods with the fewest nodes, and what
// the other types would take.
Result<plan::Plan> BestFit(const Options& o, const config::Behaviour& behaviour,
                           const std::vector<std::string>& types) {
  std::optional<plan::Plan> best;
  std::vector<std::string> alternatives;
  for (const std::string& type : types) {
    auto setting = Read(o, behaviour);
    if (!setting) return Fail(setting.error());
    plan::Inventory& inventory = (*setting)->inventory;
    plan::Plan plan = plan::PlanFit(inventory, *(*setting)->mover, *inventory.FindNode(type),
                                    static_cast<size_t>(kMostNodes));
    alternatives.push_back(fmt::format("nodes like {}: {} more, {} pods without a place",
                                       Visible(type), plan.nodes.size(), plan.homeless));
    const auto rank = [](const plan::Plan& p) { return std::pair(p.homeless, p.nodes.size()); };
    if (!best || rank(plan) < rank(*best)) best = std::move(plan);
  }
  best->alternatives = std::move(alternatives);
  return std::move(*best);
}

Result<const api::Node*> Model(const Options& o, const plan::Inventory& inventory) {
  if (o.like.empty()) return Fail("--like NODE is missing: what are the new nodes like?");
  const api::Node* model = inventory.FindNode(o.like);
  if (model == nullptr) return Fail("--like: no node " + o.like + " in the input");
  return model;
}

Result<plan::Plan> Consolidate(const Options& o, Setting& setting,
                               std::vector<std::string> candidates) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(o.deadline);
  term::Progress progress("searching", 0);
  plan::ConsolidateOptions options;
  options.candidates = std::move(candidates);
  options.max_moves = o.max_disruption;
  options.seed = static_cast<uint64_t>(o.seed);
  options.go_on = [&](size_t trials) {
    progress.Update(trials);
    return Clock::now() < end;
  };
  return plan::PlanConsolidation(setting.inventory, *setting.mover, options);
}

Result<plan::Plan> Answer(const std::string& question, const Options& o,
                          const std::vector<std::string>& names,
                          const config::Behaviour& behaviour) {
  auto read = Read(o, behaviour);
  if (!read) return Fail(read.error());
  Setting& setting = **read;
  plan::Inventory& inventory = setting.inventory;
  if (question == "fit" && o.like.empty()) return BestFit(o, behaviour, NodeTypes(inventory));
  if (question == "fit" || question == "grow") {
    const auto model = Model(o, inventory);
    if (!model) return Fail(model.error());
    const api::Node like = **model;
    if (question == "fit") return plan::PlanFit(inventory, *setting.mover, like, kMostNodes);
    if (o.count == 0) return Fail("--count N is missing");
    return plan::PlanGrow(inventory, *setting.mover, like, static_cast<size_t>(o.count));
  }
  const auto nodes = Chosen(o, inventory, names, /*or_all=*/question == "consolidate");
  if (!nodes) return Fail(nodes.error());
  if (question == "drain") return plan::PlanDrain(inventory, *setting.mover, *nodes);
  if (question == "outage") return plan::PlanOutage(inventory, *setting.mover, *nodes);
  if (question == "consolidate") return Consolidate(o, setting, *nodes);
  if (question == "shrink") {
    if (o.count == 0) return Fail("--count N is missing");
    return plan::PlanShrink(inventory, *setting.mover, *nodes, static_cast<size_t>(o.count));
  }
  const auto surge = ParseSurge(o.surge, nodes->size());
  if (!surge) return Fail(surge.error());
  return plan::PlanUpgrade(inventory, *setting.mover, *nodes, *surge);
}

Result<void> Print(const plan::Plan& plan, const std::string& output) {
  if (output == "json" || output == "yaml") {
    const std::string json = api::ToJson(plan);
    if (output == "json") {
      fmt::print("{}\n", json);
      return {};
    }
    const auto yaml = api::JsonToYaml(json);
    if (!yaml) return Fail(yaml.error());
    fmt::print("{}", *yaml);
    return {};
  }
  if (output == "script") {
    if (!plan.Works()) return Fail("not every pod has a place: no script. See -o table");
    std::fputs(PlanScript(plan).c_str(), stdout);
    return {};
  }
  PlanTextOptions text;
  text.colour = term::UsesColour(stdout);
  if (output == "wide") text.rows = SIZE_MAX;
  std::fputs(PlanText(plan, text).c_str(), stdout);
  return {};
}

}  // namespace

int Plan(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  if (auto ok = flags.Parse(args, &rest); !ok) return Misused(ok.error());
  if (options.help) {
    fmt::print("{}flags:\n{}{}", kIntro, flags.Help(), kExamples);
    return kWorks;
  }
  constexpr std::string_view kQuestions[] = {"drain", "outage", "upgrade",    "shrink",
                                             "grow",  "fit",    "consolidate"};
  if (rest.empty()) return Misused(Error("say what to plan: drain, outage, consolidate, …"));
  const std::string question = rest.front();
  rest.erase(rest.begin());
  if (std::find(std::begin(kQuestions), std::end(kQuestions), question) == std::end(kQuestions)) {
    return Misused(Error("cannot plan " + question));
  }
  if (options.files.empty()) return Misused(Error("nothing to read; give a dump with -f"));
  const auto behaviour = options.behaviour.Make("berth plan");
  if (!behaviour) return Complain(behaviour.error());
  const auto plan = Answer(question, options, rest, *behaviour);
  if (!plan) return Complain(plan.error());
  if (auto ok = Print(*plan, options.output); !ok) return Complain(ok.error());
  return plan->Works() ? kWorks : kDoesNotWork;
}

}  // namespace berth::cli

#include "cli/plan/plan.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/plan/apply.h"
#include "cli/plan/live.h"
#include "cli/plan/page.h"
#include "cli/plan/recorded.h"
#include "cli/plan/text.h"
#include "cli/replay/choose_run.h"
#include "files/read.h"
#include "files/write.h"
#include "plan/grow.h"
#include "plan/node_map.h"
#include "plan/question.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr int kWorks = 0;
constexpr int kDoesNotWork = 1;
constexpr int kBadInput = 2;

constexpr std::string_view kIntro =
    "Shows what happens to the pods of a cluster if nodes are drained, lost, replaced or added:\n"
    "which pods move where, which have no place and why, and which budgets are in the way. The\n"
    "answer comes from the engine that schedules the pods later. Nothing is changed anywhere, "
    "unless\n"
    "`apply` is said.\n"
    "\n"
    "usage: berth plan drain       -f DUMP NODE...|--selector S|--pool P\n"
    "       berth plan outage      -f DUMP NODE...|--selector S|--pool P|--zone Z\n"
    "       berth plan upgrade     -f DUMP --pool P [--surge 10%]\n"
    "       berth plan shrink      -f DUMP --pool P --count N\n"
    "       berth plan grow        -f DUMP --like NODE --count N\n"
    "       berth plan fit         -f DUMP -f workload.yaml [--like NODE]\n"
    "       berth plan consolidate -f DUMP [--pool P] [--max-disruption N]\n"
    "       berth plan restore-spread -f DUMP [--soft] [--max-disruption N]\n"
    "       berth plan apply drain|shrink|consolidate|restore-spread ... --kubeconfig FILE "
    "[--dry-run]\n"
    "       berth plan apply --state FILE --kubeconfig FILE\n"
    "\n"
    "DUMP is the output of `kubectl get nodes,pods,pdb,rs,deploy,sts,ds,job,pvc,pv,sc,csinode -A\n"
    "-o yaml` (or json), also gzipped. With --kubeconfig or --context the objects are read from "
    "the\n"
    "cluster instead; -f then adds to them. With --recording they are those of a recording.\n"
    "\n"
    "apply carries the plan out: it cordons the nodes and evicts the pods one by one through the\n"
    "eviction API, verifies where each replacement lands, and stops at the first surprise. "
    "Without\n"
    "a question it goes on with the plan in the state file.\n"
    "\n";

constexpr std::string_view kExamples =
    "\n"
    "examples:\n"
    "  berth plan drain -f cluster.yaml --selector pool=spot\n"
    "  berth plan outage -f cluster.yaml --zone eu-1a\n"
    "  berth plan consolidate -f cluster.yaml -o script > consolidate.sh\n"
    "  berth plan shrink -f cluster.yaml --pool spot --count 3 --prices prices.yaml --html "
    "plan.html\n"
    "\n"
    "exit code: 0 every pod has a place, 1 some have none or may not move, 2 bad flags or input\n";

struct Options {
  plan::Question question;
  bool apply = false;
  std::vector<std::string> files;
  std::string kubeconfig;
  std::string context;
  std::string recording;
  std::string at;
  std::string config;
  std::string output = "table";
  std::string prices;
  std::string html;
  std::string state = "berth-plan.json";
  int64_t deadline = 10;
  bool dry_run = false;
  bool timings = false;
  bool help = false;
  BehaviourFlags behaviour;
};

Result<void> ParseDisruption(const std::string& text, Options* o) {
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 0) {
    return Fail(fmt::format("--max-disruption: \"{}\" is not a number of pods", text));
  }
  o->question.max_disruption = number;
  return {};
}

Result<void> ParseCost(const std::string& text, Options* o) {
  double cost = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  if (error != std::errc() || stop != text.data() + text.size() || !(cost >= 0 && cost < 1e9)) {
    return Fail(fmt::format("--eviction-cost: \"{}\" is not a number of at least 0", text));
  }
  o->question.eviction_cost = cost;
  return {};
}

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddList("f,filename", "FILE|DIR|-", "manifests to read; may be repeated", &o->files);
  flags.AddText("kubeconfig", "FILE", "read the cluster of this kubeconfig", &o->kubeconfig);
  flags.AddText("context", "NAME", "read the cluster of this context of the kubeconfig",
                &o->context);
  flags.AddText("recording", "DIR", "the cluster of this recording (--record-dir)", &o->recording);
  flags.AddText("at", "TIME", "as the recording has it then, such as 2026-05-01T12:00:00Z", &o->at);
  flags.AddText("l,selector", "SELECTOR", "nodes with these labels, such as pool=spot",
                &o->question.selector);
  flags.AddText("pool", "NAME", "nodes of the pool, by the label of the provider or `pool`",
                &o->question.pool);
  flags.AddText("zone", "NAME", "nodes of the zone", &o->question.zone);
  flags.AddText("topology", "KEY=VALUE", "nodes with this topology label", &o->question.topology);
  flags.AddText("like", "NODE", "grow, fit: the node that new ones are like", &o->question.like);
  flags.AddNumber("count", "N", "shrink, grow: how many nodes", 1, plan::kMostNodes,
                  &o->question.count);
  flags.AddText("surge", "N|P%", "upgrade: nodes to add before as many are drained (default 10%)",
                &o->question.surge);
  flags.Add("max-disruption", "N", "pods that may be evicted in all",
            [o](const std::string& text) { return ParseDisruption(text, o); });
  flags.AddSwitch("delete-emptydir-data",
                  "consolidate, restore-spread: pods with local storage may be evicted, too",
                  &o->question.lose_local_data);
  flags.Add("eviction-cost", "X",
            "consolidate: what an ordinary eviction costs, in the unit of prices, or in nodes",
            [o](const std::string& text) { return ParseCost(text, o); });
  flags.AddNumber("deadline", "SECONDS", "when to stop searching (default 10)", 1, 86400,
                  &o->deadline);
  flags.AddSwitch("soft", "restore-spread: constraints with ScheduleAnyway too", &o->question.soft);
  flags.AddNumber("seed", "N", "seed of random choices (default 0)", 0, INT64_MAX,
                  &o->question.seed);
  flags.AddText("prices", "FILE", "what nodes cost per hour, by their labels", &o->prices);
  flags.AddText("html", "FILE", "also write a page with a map of the nodes before and after",
                &o->html);
  flags.AddText("state", "FILE", "apply: how far the plan is carried out (berth-plan.json)",
                &o->state);
  flags.AddSwitch("dry-run", "apply: show what would be sent, and send nothing", &o->dry_run);
  flags.AddSwitch("timings", "say on standard error how long reading and planning took",
                  &o->timings);
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

// apply without either takes kubectl's own kubeconfig.
bool IsLive(const Options& o) { return o.apply || !o.kubeconfig.empty() || !o.context.empty(); }

// What is planned by. A recording has rules of its own.
struct Rules {
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
};

// The cluster of the input with everything that decides about it.
struct Setting {
  std::unique_ptr<plan::Model> model;
  std::vector<std::string> notes;  // what could not be read

  plan::Inventory& inventory() { return model->inventory(); }
};

Result<void> ReadRecording(const Options& o, Rules* rules, std::vector<api::Object>* objects,
                           std::vector<std::string>* notes) {
  std::optional<int64_t> at;
  if (!o.at.empty()) {
    const auto time = ParseTime(o.at);
    if (!time) return Fail(time.error().In("--at"));
    at = *time;
  }
  auto recorded = ReadRecorded(o.recording, at);
  if (!recorded) return Fail(recorded.error());
  if (!recorded->damage.empty()) {
    notes->push_back("the recording was read up to its damage: " + recorded->damage);
  }
  if (o.config.empty()) rules->config = std::move(recorded->config);
  if (!o.behaviour.Given()) rules->behaviour = recorded->behaviour;
  *objects = std::move(recorded->objects);
  return {};
}

Result<std::unique_ptr<Setting>> Read(const Options& o, const config::Behaviour& behaviour) {
  auto config = ReadConfig(o.config, behaviour, "berth plan");
  if (!config) return Fail(config.error());
  Rules rules{std::move(*config), behaviour};
  auto setting = std::make_unique<Setting>();
  std::vector<api::Object> recorded;
  if (!o.recording.empty()) {
    auto ok = ReadRecording(o, &rules, &recorded, &setting->notes);
    if (!ok) return Fail(ok.error());
  }
  plan::ModelOptions options;
  options.config = std::move(rules.config);
  options.behaviour = rules.behaviour;
  options.seed = static_cast<uint64_t>(o.question.seed);
  const auto read = [&](const api::ObjectConsumer& add) -> Result<void> {
    for (api::Object& object : recorded) {
      if (auto ok = add(std::move(object)); !ok) return ok;
    }
    if (IsLive(o)) {
      auto ok = ReadLive(o.kubeconfig, o.context, behaviour, add, &setting->notes);
      if (!ok) return ok;
    }
    return o.files.empty() ? Result<void>() : ReadObjects(o.files, add);
  };
  auto model = plan::Model::Make(options, read);
  if (!model) return Fail(model.error());
  setting->model = std::move(*model);
  if (setting->inventory().cluster().NodeCount() == 0) {
    return Fail(o.files.empty() ? "the cluster has no nodes"
                                : "the input has no nodes; add `kubectl get nodes -o yaml`");
  }
  return setting;
}

// `fit` without --like: the node of the type that places most pods, for the least money if there
// are prices, otherwise with the fewest nodes. `alternatives` says what each type would take.
Result<std::string> BestType(const Options& o, const config::Behaviour& behaviour,
                             const plan::PriceList& prices, const std::vector<std::string>& types,
                             std::vector<std::string>* alternatives) {
  std::optional<std::tuple<int64_t, double, size_t>> best;
  std::string chosen;
  for (const std::string& type : types) {
    auto setting = Read(o, behaviour);
    if (!setting) return Fail(setting.error());
    plan::Inventory& inventory = (*setting)->inventory();
    const double hourly = prices.Hourly(*inventory.FindNode(type)).value_or(0);
    const plan::Plan plan =
        plan::PlanFit(inventory, (*setting)->model->mover(), *inventory.FindNode(type),
                      static_cast<size_t>(plan::kMostNodes));
    const double cost = hourly * static_cast<double>(plan.nodes.size());
    alternatives->push_back(fmt::format(
        "nodes like {}: {} more, {} pods without a place{}", Visible(type), plan.nodes.size(),
        plan.homeless, prices.Empty() ? "" : fmt::format(", {:.2f} per hour", cost)));
    const std::tuple rank(plan.homeless, cost, plan.nodes.size());
    if (best && *best <= rank) continue;
    best = rank;
    chosen = type;
  }
  return chosen;
}

// Says how far a search is, and ends it at the deadline.
class Patience {
 public:
  explicit Patience(int64_t seconds) : end_(Clock::now() + std::chrono::seconds(seconds)) {}

  std::function<bool(size_t)> GoOn() {
    return [this](size_t trials) {
      progress_.Update(trials);
      return Clock::now() < end_;
    };
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Clock::time_point end_;
  term::Progress progress_{"searching", 0};
};

Result<plan::PriceList> ReadPrices(const std::string& path) {
  if (path.empty()) return plan::PriceList();
  const auto text = files::ReadFile(path);
  if (!text) return Fail(text.error());
  auto prices = plan::PriceList::Parse(*text);
  if (!prices) return Fail(prices.error().In(path));
  return prices;
}

void PrintTimings(std::chrono::steady_clock::duration reading,
                  std::chrono::steady_clock::duration planning) {
  const auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  fmt::print(stderr, "read in {:.2f} s, planned in {:.2f} s\n", seconds(reading),
             seconds(planning));
}

// The plan, with costs and, where it was asked for, as a page.
Result<plan::Plan> Make(Options o, const config::Behaviour& behaviour) {
  using Clock = std::chrono::steady_clock;
  const auto prices = ReadPrices(o.prices);
  if (!prices) return Fail(prices.error());
  const Clock::time_point begin = Clock::now();
  auto setting = Read(o, behaviour);
  if (!setting) return Fail(setting.error());
  plan::Inventory& inventory = (*setting)->inventory();
  const Clock::time_point read = Clock::now();
  std::vector<std::string> alternatives;
  if (o.question.question == "fit" && o.question.like.empty()) {
    auto type = BestType(o, behaviour, *prices, plan::NodeTypes(inventory), &alternatives);
    if (!type) return Fail(type.error());
    o.question.like = std::move(*type);
  }
  plan::NodeMap map(inventory, *prices);
  Patience patience(o.deadline);
  auto plan = plan::Answer(*(*setting)->model, o.question, *prices, patience.GoOn());
  if (!plan) return plan;
  plan->alternatives = std::move(alternatives);
  for (std::string& note : (*setting)->notes) plan->warnings.push_back(std::move(note));
  map.Finish(inventory, &*plan);
  if (o.timings) PrintTimings(read - begin, Clock::now() - read);
  if (!o.html.empty()) {
    auto ok = files::WriteFile(o.html, PlanPage(*plan, map.Nodes()));
    if (!ok) return Fail(ok.error());
  }
  return plan;
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

Result<void> CheckInput(const Options& o) {
  if (o.apply && (!o.files.empty() || !o.recording.empty())) {
    return Fail("apply works on a live cluster: give --kubeconfig or --context, not -f");
  }
  if (o.apply && o.output != "table" && o.output != "wide") return Fail("apply prints tables only");
  if (!o.recording.empty() && IsLive(o)) {
    return Fail("give one of --recording and --kubeconfig or --context");
  }
  if (o.recording.empty() && !o.at.empty()) return Fail("--at is for --recording");
  if (o.files.empty() && !IsLive(o) && o.recording.empty() && !o.apply) {
    return Fail("nothing to read; give a dump with -f, or a cluster with --kubeconfig");
  }
  return {};
}

Result<ApplyCommand> CommandOf(const Options& o, const config::Behaviour& behaviour) {
  auto config = ReadConfig(o.config, behaviour, "berth plan");
  if (!config) return Fail(config.error());
  ApplyCommand command;
  command.kubeconfig = o.kubeconfig;
  command.context = o.context;
  command.state_file = o.state;
  command.config = std::move(*config);
  command.behaviour = behaviour;
  command.seed = static_cast<uint64_t>(o.question.seed);
  return command;
}

int CodeOf(const Result<bool>& done) {
  if (!done) return Complain(done.error());
  return *done ? kWorks : kDoesNotWork;
}

int Carry(const Options& o, const config::Behaviour& behaviour, const plan::Plan& plan) {
  if (o.dry_run) {
    std::fputs(DryRunText(plan).c_str(), stdout);
    return plan.Works() ? kWorks : kDoesNotWork;
  }
  const auto command = CommandOf(o, behaviour);
  if (!command) return Complain(command.error());
  return CodeOf(ApplyPlan(*command, o.question, plan));
}

int Resume(const Options& o, const config::Behaviour& behaviour) {
  if (o.dry_run) return Misused(Error("--dry-run needs a question: berth plan apply drain …"));
  const auto command = CommandOf(o, behaviour);
  if (!command) return Complain(command.error());
  return CodeOf(ResumePlan(*command));
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
  if (!rest.empty() && rest.front() == "apply") {
    options.apply = true;
    rest.erase(rest.begin());
  }
  const bool resumes = options.apply && rest.empty();
  if (rest.empty() && !resumes) {
    return Misused(Error("say what to plan: drain, outage, consolidate, …"));
  }
  if (!resumes) {
    options.question.question = rest.front();
    options.question.nodes.assign(rest.begin() + 1, rest.end());
    if (!plan::IsQuestion(options.question.question)) {
      return Misused(Error("cannot plan " + options.question.question));
    }
  }
  if (auto ok = CheckInput(options); !ok) return Misused(ok.error());
  const auto behaviour = options.behaviour.Make("berth plan");
  if (!behaviour) return Complain(behaviour.error());
  if (resumes) return Resume(options, *behaviour);
  const auto plan = Make(options, *behaviour);
  if (!plan) return Complain(plan.error());
  if (auto ok = Print(*plan, options.output); !ok) return Complain(ok.error());
  if (options.apply) return Carry(options, *behaviour, *plan);
  return plan->Works() && plan->excess_after == 0 ? kWorks : kDoesNotWork;
}

}  // namespace berth::cli

#include "cli/explain/explain.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "base/function_ref.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/explain/client.h"
#include "cli/explain/group.h"
#include "cli/explain/recorded.h"
#include "cli/explain/text.h"
#include "cli/input.h"
#include "cli/plugins.h"
#include "cli/replay/choose_run.h"
#include "explain/explainer.h"
#include "explain/groups/view.h"
#include "explain/suggestions.h"
#include "explain/views.h"
#include "scheduler/profile_set.h"
#include "sim/world.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr std::string_view kIntro =
    "Shows why a pod is on its node or pending, or why a pod group waits, and what would help.\n"
    "\n"
    "usage: berth explain pod [NAMESPACE/]NAME [flags]\n"
    "       berth explain podgroup [NAMESPACE/]NAME [flags]\n"
    "\n"
    "Queries a running berth: the berth up of the kubeconfig, or the scheduler at --server. With\n"
    "-f it computes the decision for a cluster read from manifests, as in berth simulate.\n"
    "With --recording it shows a decision of a recorded scheduler exactly as it was made.\n"
    "Installed as kubectl-berth, the command is `kubectl berth explain`.\n"
    "\n"
    "flags:\n";

constexpr std::string_view kExamples =
    "\n"
    "examples:\n"
    "  berth explain pod default/web-7d4b9\n"
    "  berth explain pod web-7d4b9 --node node-0007\n"
    "  berth explain pod web -n shop --server https://127.0.0.1:10259 --token-file token \\\n"
    "      --insecure-skip-tls-verify\n"
    "  berth explain pod shop/web-0 --recording /var/lib/berth/recording \\\n"
    "      --at 2026-05-01T12:00:00Z\n"
    "  kubectl get nodes,pods -A -o yaml | berth explain pod shop/web-0 -f -\n"
    "  berth explain podgroup ml/train\n"
    "  berth explain podgroup train -f cluster.yaml --feature-gates GenericWorkload=true\n";

struct Options {
  ExplainServer server;
  std::string namespace_ = "default";
  std::string node;
  std::string output = "table";
  std::string config;
  std::vector<std::string> files;
  int64_t nodes = 5;
  RunChoice recording;
  std::vector<std::string> plugin_paths;
  bool help = false;
  BehaviourFlags behaviour;
};

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddText("n,namespace", "NAMESPACE",
                "namespace of the pod or group, if its name has none (default)", &o->namespace_);
  flags.AddText("node", "NODE", "also show the result for this node", &o->node);
  flags.AddNumber("nodes", "K", "number of best nodes to show (5)", 1, 100, &o->nodes);
  flags.AddChoice("o,output", {"table", "json", "yaml"}, "output format", &o->output);
  AddServerFlags(flags, &o->server);
  flags.AddList("f,filename", "FILE|DIR|-", "explain for the cluster in these manifests",
                &o->files);
  flags.AddText("config", "FILE", "with -f: the KubeSchedulerConfiguration to use", &o->config);
  o->behaviour.Add(flags);
  flags.AddText("recording", "DIR", "explain a decision recorded with --record-dir DIR",
                &o->recording.dir);
  flags.Add("at", "TIME", "with --recording: the last decision up to then (default: of all)",
            [o](const std::string& text) -> Result<void> {
              const auto time = ParseTime(text);
              if (!time) return Fail(time.error());
              o->recording.time_ns = *time;
              return {};
            });
  flags.AddNumber("run", "N", "with --recording: the run (default: the one at that time)", 1,
                  999'999, &o->recording.number);
  flags.AddList("plugin-path", "FILE|DIR",
                "with --recording: shared objects with the plugins that were loaded",
                &o->plugin_paths);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

struct Answer {
  explain::DecisionView view;
  std::optional<explain::SuggestionList> suggestions;
};

// Names are DNS labels and subdomains: anything else would be another path.
Result<std::pair<std::string, std::string>> ParseName(std::string_view kind,
                                                      const std::string& text,
                                                      const std::string& namespace_) {
  const size_t slash = text.find('/');
  std::pair<std::string, std::string> pod(namespace_, text);
  if (slash != std::string::npos) pod = {text.substr(0, slash), text.substr(slash + 1)};
  for (const std::string& part : {pod.first, pod.second}) {
    const bool good = !part.empty() && part.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyz"
                                           "0123456789-.") == std::string::npos;
    if (!good) {
      return Fail(fmt::format("\"{}\" is no {}; write NAMESPACE/NAME or NAME", text, kind));
    }
  }
  return pod;
}

// --- A running berth

Result<Answer> AskServer(const Options& options, const std::string& namespace_,
                         const std::string& name) {
  std::string query = fmt::format("nodes={}", options.nodes);
  if (!options.node.empty()) query = fmt::format("node={}&{}", options.node, query);
  const std::string prefix = "/apis/explain/v1";
  const auto body =
      Fetch(options.server, fmt::format("{}/decisions/{}/{}", prefix, namespace_, name), query);
  if (!body) return Fail(body.error());
  auto view = api::FromJson<explain::DecisionView>(*body);
  if (!view) return Fail(view.error().In("the answer"));
  Answer answer{std::move(*view), std::nullopt};
  if (!answer.view.pod_node.empty()) return answer;
  const auto more =
      Fetch(options.server, fmt::format("{}/pods/{}/{}/suggestions", prefix, namespace_, name), "");
  if (!more) return Fail(more.error());
  auto suggestions = api::FromJson<explain::SuggestionList>(*more);
  if (!suggestions) return Fail(suggestions.error().In("the answer"));
  answer.suggestions = std::move(*suggestions);
  return answer;
}

// --- Manifests

struct Input {
  explicit Input(const config::Behaviour& behaviour) : world(behaviour) {}

  sim::World world;
  scheduler::NodeObjects nodes;
};

Result<void> ReadInput(const Options& options, Input* input) {
  api::Admission admission;
  auto read = ReadObjects(options.files, [&](api::Object object) -> Result<void> {
    if (auto* node = std::get_if<api::Node>(&object)) {
      api::Object admitted = *node;
      if (!api::FromApiServer(node->metadata)) {
        if (auto ok = admission.Apply(admitted); !ok) return ok;
      }
      auto& kept = std::get<api::Node>(admitted);
      const std::string node_name = kept.metadata.name;
      input->nodes[node_name] = std::make_shared<const api::Node>(std::move(kept));
    }
    return input->world.Add(std::move(object));
  });
  if (!read) return read;
  return input->world.Finish();
}

// What is explained for manifests: `answer` gets the cluster that was read.
template <class T>
Result<T> WithManifests(const Options& options,
                        FunctionRef<Result<T>(const scheduler::Source&)> answer) {
  const auto behaviour = options.behaviour.Make("berth explain");
  if (!behaviour) return Fail(behaviour.error());
  const auto config = ReadConfig(options.config, *behaviour, "berth explain");
  if (!config) return Fail(config.error());
  const auto inputs = berth::scheduler::InputsOf(*config, *behaviour);
  if (!inputs) return Fail(inputs.error());
  Input input(*behaviour);
  input.world.GetCluster().Track(*inputs);
  if (auto ok = ReadInput(options, &input); !ok) return Fail(ok.error());
  auto profiles = berth::scheduler::ProfileSet::Make(*config, *behaviour, input.world.GetCluster());
  if (!profiles) return Fail(profiles.error());
  scheduler::Source source;
  source.cluster = &input.world.GetCluster();
  source.nodes = &input.nodes;
  for (const auto& profile : profiles->Profiles()) source.profiles.push_back(profile.get());
  return answer(source);
}

Result<Answer> AskManifests(const Options& options, const std::string& namespace_,
                            const std::string& name) {
  return WithManifests<Answer>(options, [&](const scheduler::Source& source) -> Result<Answer> {
    const cluster::PodId pod = explain::FindPod(source, namespace_, name);
    if (pod == cluster::kNoPod) {
      return Fail(fmt::format("no pod {}/{} in the input", namespace_, name));
    }
    const explain::ExplainOptions explaining{
        .top = static_cast<size_t>(options.nodes), .node = options.node, .chosen = {}};
    auto view = explain::Explain(source, pod, explaining);
    if (!view) return Fail(view.error());
    Answer answer{std::move(*view), std::nullopt};
    auto suggestions = explain::Suggest(source, pod);
    if (!suggestions) return Fail(suggestions.error());
    answer.suggestions = std::move(*suggestions);
    return answer;
  });
}

// --- Pod groups

Result<explain::GroupView> AskGroup(const Options& options, const std::string& namespace_,
                                    const std::string& name) {
  if (!options.files.empty()) {
    return WithManifests<explain::GroupView>(options, [&](const scheduler::Source& source) {
      return explain::ExplainGroup(source, namespace_, name);
    });
  }
  const auto body =
      Fetch(options.server, fmt::format("/apis/explain/v1/podgroups/{}/{}", namespace_, name), "");
  if (!body) return Fail(body.error());
  auto view = api::FromJson<explain::GroupView>(*body);
  if (!view) return Fail(view.error().In("the answer"));
  return std::move(*view);
}

Result<std::string> GroupToText(const explain::GroupView& view, const Options& options) {
  if (options.output == "table") return GroupText(view, {.colour = term::UsesColour(stdout)});
  const std::string json = explain::ToText(view);
  if (options.output == "json") return json + "\n";
  return api::JsonToYaml(json);
}

// --- A recording

Result<Answer> AskRecording(const Options& options, const std::string& namespace_,
                            const std::string& name) {
  const auto plugins = LoadPlugins(options.plugin_paths);
  if (!plugins) return Fail(plugins.error());
  auto decision = ExplainRecorded(
      options.recording, namespace_, name,
      {.top = static_cast<size_t>(options.nodes), .node = options.node, .chosen = {}}, *plugins);
  if (!decision) return Fail(decision.error());
  return Answer{std::move(decision->view), std::nullopt};
}

Result<Answer> Ask(const Options& options, const std::string& namespace_, const std::string& name) {
  if (!options.recording.dir.empty()) return AskRecording(options, namespace_, name);
  return options.files.empty() ? AskServer(options, namespace_, name)
                               : AskManifests(options, namespace_, name);
}

// What contradicts itself; empty: nothing.
std::string Contradiction(const Options& options) {
  const bool recorded = !options.recording.dir.empty();
  if (recorded && !options.files.empty()) return "give --recording or -f, not both";
  if (!recorded && (options.recording.time_ns || options.recording.number != 0)) {
    return "--at and --run choose a decision of a recording: give --recording DIR too";
  }
  return "";
}

// --- Printing

Result<std::string> ToText(const Answer& answer, const Options& options, const std::string& pod) {
  if (options.output == "table") {
    return ExplainText(answer.view, answer.suggestions ? &*answer.suggestions : nullptr,
                       {.colour = term::UsesColour(stdout), .pod = pod});
  }
  std::string json = explain::ToText(answer.view);
  if (answer.suggestions) {
    json.pop_back();
    json += ",\"suggestions\":" + explain::ToText(*answer.suggestions) + "}";
  }
  if (options.output == "json") return json + "\n";
  return api::JsonToYaml(json);
}

// Takes the kind off the arguments, as KIND NAME or KIND/NAME. True: a pod group.
bool TakeKind(std::vector<std::string>* rest) {
  constexpr std::array<std::string_view, 3> kPods{"pod", "pods", "po"};
  constexpr std::array<std::string_view, 3> kGroups{"podgroup", "podgroups", "pg"};
  if (rest->empty()) return false;
  const std::string first = rest->front();
  const size_t slash = rest->size() == 1 ? first.find('/') : std::string::npos;
  const std::string kind = first.substr(0, slash);
  const bool is_pod = std::ranges::find(kPods, kind) != kPods.end();
  const bool is_group = std::ranges::find(kGroups, kind) != kGroups.end();
  if (rest->size() > 1 && (is_pod || is_group)) {
    rest->erase(rest->begin());
  } else if (slash != std::string::npos && (kind == "pod" || kind == "podgroup")) {
    rest->front() = first.substr(slash + 1);
  } else {
    return false;
  }
  return is_group;
}

}  // namespace

int Explain(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  const auto complain = [](std::string_view message) {
    fmt::print(stderr, "berth explain: {}\n", Visible(message, "\n"));
    return 1;
  };
  if (auto ok = flags.Parse(args, &rest); !ok) {
    complain(ok.error().Message() + "\nTry 'berth explain --help'.");
    return 2;
  }
  if (options.help) {
    fmt::print("{}{}{}", kIntro, flags.Help(), kExamples);
    return 0;
  }
  const bool group = TakeKind(&rest);
  if (rest.size() == 2) {
    complain(
        fmt::format("only pods and pod groups can be explained, not \"{}\"; 'berth pending' "
                    "lists workloads",
                    rest[0]));
    return 2;
  }
  if (rest.size() != 1) {
    complain("say which pod: berth explain pod NAMESPACE/NAME\nTry 'berth explain --help'.");
    return 2;
  }
  if (const std::string what = Contradiction(options); !what.empty()) {
    complain(what);
    return 2;
  }
  const auto pod = ParseName(group ? "pod group" : "pod", rest[0], options.namespace_);
  if (!pod) return complain(pod.error().Message());
  if (group) {
    if (!options.recording.dir.empty() || !options.node.empty()) {
      complain("--recording and --node are for pods");
      return 2;
    }
    const auto view = AskGroup(options, pod->first, pod->second);
    if (!view) return complain(view.error().Message());
    const auto text = GroupToText(*view, options);
    if (!text) return complain(text.error().Message());
    std::fputs(text->c_str(), stdout);
    return 0;
  }
  const auto answer = Ask(options, pod->first, pod->second);
  if (!answer) return complain(answer.error().Message());
  const auto text = ToText(*answer, options, pod->first + "/" + pod->second);
  if (!text) return complain(text.error().Message());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace berth::cli

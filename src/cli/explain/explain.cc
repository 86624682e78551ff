#include "cli/explain/explain.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/explain/client.h"
#include "cli/explain/text.h"
#include "cli/input.h"
#include "explain/explainer.h"
#include "explain/suggestions.h"
#include "explain/views.h"
#include "scheduler/profile_set.h"
#include "sim/world.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr std::string_view kIntro =
    "Shows why a pod is on its node or pending, and what would help.\n"
    "\n"
    "usage: berth explain pod [NAMESPACE/]NAME [flags]\n"
    "\n"
    "Queries a running berth: the berth up of the kubeconfig, or the scheduler at --server. With\n"
    "-f it computes the decision for a cluster read from manifests, as in berth simulate.\n"
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
    "  kubectl get nodes,pods -A -o yaml | berth explain pod shop/web-0 -f -\n";

struct Options {
  ExplainServer server;
  std::string namespace_ = "default";
  std::string node;
  std::string output = "table";
  std::string config;
  std::vector<std::string> files;
  int64_t nodes = 5;
  bool help = false;
  BehaviourFlags behaviour;
};

term::Flags MakeFlags(Options* o) {
  term::Flags flags;
  flags.AddText("n,namespace", "NAMESPACE", "namespace of the pod, if its name has none (default)",
                &o->namespace_);
  flags.AddText("node", "NODE", "also show the result for this node", &o->node);
  flags.AddNumber("nodes", "K", "number of best nodes to show (5)", 1, 100, &o->nodes);
  flags.AddChoice("o,output", {"table", "json", "yaml"}, "output format", &o->output);
  AddServerFlags(flags, &o->server);
  flags.AddList("f,filename", "FILE|DIR|-", "explain for the cluster in these manifests",
                &o->files);
  flags.AddText("config", "FILE", "with -f: the KubeSchedulerConfiguration to use", &o->config);
  o->behaviour.Add(flags);
  flags.AddSwitch("h,help", "print this help", &o->help);
  return flags;
}

struct Answer {
  explain::DecisionView view;
  std::optional<explain::SuggestionList> suggestions;
};

// Names are DNS labels and subdomains: anything else would be another path.
Result<std::pair<std::string, std::string>> ParsePod(const std::string& text,
                                                     const std::string& namespace_) {
  const size_t slash = text.find('/');
  std::pair<std::string, std::string> pod(namespace_, text);
  if (slash != std::string::npos) pod = {text.substr(0, slash), text.substr(slash + 1)};
  for (const std::string& part : {pod.first, pod.second}) {
    const bool good = !part.empty() && part.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyz"
                                           "0123456789-.") == std::string::npos;
    if (!good) return Fail(fmt::format("\"{}\" is no pod; write NAMESPACE/NAME or NAME", text));
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

Result<Answer> AskManifests(const Options& options, const std::string& namespace_,
                            const std::string& name) {
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
  const cluster::PodId pod = explain::FindPod(source, namespace_, name);
  if (pod == cluster::kNoPod) {
    return Fail(fmt::format("no pod {}/{} in the input", namespace_, name));
  }
  auto view = explain::Explain(source, pod,
                               {.top = static_cast<size_t>(options.nodes), .node = options.node});
  if (!view) return Fail(view.error());
  Answer answer{std::move(*view), std::nullopt};
  auto suggestions = explain::Suggest(source, pod);
  if (!suggestions) return Fail(suggestions.error());
  answer.suggestions = std::move(*suggestions);
  return answer;
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
  if (!rest.empty() && (rest[0] == "pod" || rest[0] == "pods" || rest[0] == "po")) {
    rest.erase(rest.begin());
  } else if (rest.size() == 1 && rest[0].starts_with("pod/")) {
    rest[0] = rest[0].substr(4);
  }
  if (rest.size() != 1) {
    complain("say which pod: berth explain pod NAMESPACE/NAME\nTry 'berth explain --help'.");
    return 2;
  }
  const auto pod = ParsePod(rest[0], options.namespace_);
  if (!pod) return complain(pod.error().Message());
  const auto answer = options.files.empty() ? AskServer(options, pod->first, pod->second)
                                            : AskManifests(options, pod->first, pod->second);
  if (!answer) return complain(answer.error().Message());
  const auto text = ToText(*answer, options, pod->first + "/" + pod->second);
  if (!text) return complain(text.error().Message());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace berth::cli

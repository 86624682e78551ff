#include "cli/config_command.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "api/codec/yaml.h"
#include "base/visible.h"
#include "cli/behaviour_flags.h"
#include "cli/plugins.h"
#include "config/metrics_sources.h"
#include "config/v1beta3.h"
#include "files/read.h"
#include "kube/rbac.h"
#include "term/flags.h"

namespace berth::cli {
namespace {

constexpr std::string_view kUsage =
    "Validates, defaults and converts KubeSchedulerConfiguration files.\n"
    "\n"
    "usage: berth config validate FILE       report the error kube-scheduler would exit with\n"
    "       berth config default [FILE]      print the file with all defaults\n"
    "       berth config convert FILE        print a v1beta3 file as v1\n"
    "       berth config rbac [FILE]         print the ClusterRole that the scheduler needs; with\n"
    "                                        --replicas-share-work also a Role\n"
    "\n"
    "FILE is YAML or JSON; '-' is standard input. Results go to standard output. A v1beta3 file\n"
    "is read as v1, with a warning on standard error.\n"
    "\n"
    "flags:\n";

int Refuse(const std::string& file, const Error& error) {
  fmt::print(stderr, "berth config: {}: {}\n", file, Visible(error.Message(), "\n"));
  return 1;
}

void Warn(const std::string& file, const std::string& warning) {
  fmt::print(stderr, "berth config: {}: warning: {}\n", file, Visible(warning, "\n"));
}

void Print(const config::KubeSchedulerConfiguration& config, const std::string& output) {
  fmt::print("{}", output == "json" ? config::ToJson(config) + "\n" : config::ToYaml(config));
}

// Out-of-tree plugins check their arguments when they are made.
Result<void> MakeOutOfTree(const config::Resolved& resolved, const config::Behaviour& behaviour,
                           const Plugins& plugins) {
  if (plugins.extra.empty()) return {};
  cluster::Cluster cluster;
  auto made = berth::scheduler::ProfileSet::Make(resolved.effective, behaviour, cluster, nullptr, 0,
                                                 plugins.extra);
  if (!made) return Fail(made.error());
  return {};
}

// Loads the text and builds its profiles, as kube-scheduler does before it starts.
Result<config::KubeSchedulerConfiguration> Check(const std::string& file, std::string_view text,
                                                 const config::Behaviour& behaviour,
                                                 const Plugins& plugins) {
  auto loaded = config::LoadAnyVersion(text, behaviour);
  if (!loaded) return Fail(loaded.error());
  for (const std::string& warning : loaded->Warnings()) Warn(file, warning);
  config::ResolveOptions options = plugins.Resolve(behaviour);
  options.read_file = [](const std::string& path) { return files::ReadFile(path); };
  auto resolved = config::Resolve(loaded->config, options);
  if (!resolved) return Fail(resolved.error());
  if (auto made = MakeOutOfTree(*resolved, behaviour, plugins); !made) return Fail(made.error());
  return resolved->effective;
}

int Validate(const std::string& file, const std::string& text, const config::Behaviour& behaviour,
             const Plugins& plugins) {
  auto checked = Check(file, text, behaviour, plugins);
  if (!checked) return Refuse(file, checked.error());
  fmt::print("{}: valid, {} profile{}, {} extender{}\n", file, checked->profiles.size(),
             checked->profiles.size() == 1 ? "" : "s", checked->extenders.size(),
             checked->extenders.size() == 1 ? "" : "s");
  return 0;
}

int Default(const std::string& file, const std::string& text, const std::string& output,
            const config::Behaviour& behaviour, const Plugins& plugins) {
  if (file.empty()) {
    Print(config::Default(behaviour), output);
    return 0;
  }
  auto checked = Check(file, text, behaviour, plugins);
  if (!checked) return Refuse(file, checked.error());
  Print(*checked, output);
  return 0;
}

int Convert(const std::string& file, const std::string& text, const std::string& output,
            const config::Behaviour& behaviour) {
  auto loaded = config::LoadAnyVersion(text, behaviour);
  if (!loaded) return Refuse(file, loaded.error());
  for (const std::string& change : loaded->changes) Warn(file, change);
  Print(loaded->config, output);
  return 0;
}

int Rbac(const std::string& file, const std::string& text, const config::Behaviour& behaviour,
         const Plugins& plugins, bool shares_work) {
  config::KubeSchedulerConfiguration config = config::Default(behaviour);
  if (!file.empty()) {
    auto checked = Check(file, text, behaviour, plugins);
    if (!checked) return Refuse(file, checked.error());
    config = std::move(*checked);
  }
  const auto inputs = berth::scheduler::InputsOf(config, behaviour, plugins.extra);
  if (!inputs) return Refuse(file, inputs.error());
  const auto resolved = config::Resolve(config, plugins.Resolve(behaviour));
  if (!resolved) return Refuse(file, resolved.error());
  const auto sources = config::MetricsSourcesOf(resolved->profiles);
  const bool reads_metrics = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
    return source.type == config::MetricsSource::Type::kMetricsServer;
  });
  fmt::print("{}", kube::ClusterRole(behaviour, inputs->kinds, reads_metrics, shares_work));
  if (shares_work) {
    fmt::print("---\n{}", kube::ReplicasRole(config.leader_election.resource_namespace));
  }
  return 0;
}

int UsageError(const term::Flags& flags, const std::string& what) {
  fmt::print(stderr, "berth config: {}\n\n{}{}", what, kUsage, flags.Help());
  return 2;
}

}  // namespace

int Config(const std::vector<std::string>& args) {
  bool help = false;
  std::string output = "yaml";
  term::Flags flags;
  flags.AddChoice("o,output", {"yaml", "json"}, "format of the result (default yaml)", &output);
  std::vector<std::string> plugin_paths;
  flags.AddList("plugin-path", "FILE|DIR",
                "shared objects with plugins that the file may enable; may be repeated",
                &plugin_paths);
  bool shares_work = false;
  flags.AddSwitch("replicas-share-work", "rbac: with what berth scheduler needs for this flag",
                  &shares_work);
  BehaviourFlags behaviour_flags;
  behaviour_flags.Add(flags);
  flags.AddSwitch("h,help", "print this help", &help);
  std::vector<std::string> rest;
  if (auto ok = flags.Parse(args, &rest); !ok) return UsageError(flags, ok.error().Message());
  if (help) {
    fmt::print("{}{}", kUsage, flags.Help());
    return 0;
  }
  if (rest.empty()) return UsageError(flags, "missing command: validate, default, convert or rbac");
  const std::string verb = rest[0];
  if (verb != "validate" && verb != "default" && verb != "convert" && verb != "rbac") {
    return UsageError(flags, fmt::format("unknown command {}", verb));
  }
  if (rest.size() > 2) return UsageError(flags, "one file at a time");
  if (rest.size() < 2 && verb != "default" && verb != "rbac")
    return UsageError(flags, "which file?");
  const std::string file = rest.size() > 1 ? rest[1] : "";
  std::string text;
  if (!file.empty()) {
    auto read = files::ReadFile(file);
    if (!read) return Refuse(file, read.error());
    text = std::move(*read);
  }
  const auto behaviour = behaviour_flags.Make("berth config");
  if (!behaviour) return UsageError(flags, behaviour.error().Message());
  const auto plugins = LoadPlugins(plugin_paths, "berth config");
  if (!plugins) return Refuse("--plugin-path", plugins.error());
  if (verb == "validate") return Validate(file, text, *behaviour, *plugins);
  if (verb == "rbac") return Rbac(file, text, *behaviour, *plugins, shares_work);
  return verb == "default" ? Default(file, text, output, *behaviour, *plugins)
                           : Convert(file, text, output, *behaviour);
}

}  // namespace berth::cli

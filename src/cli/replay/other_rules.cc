#include "cli/replay/other_rules.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "api/codec/json.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/replay/difference_text.h"
#include "files/read.h"
#include "history/difference.h"
#include "history/rerun.h"
#include "record/run_reader.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

Result<record::Begin> FirstEngine(const record::RunFiles& run) {
  record::RunReader reader(run);
  auto record = reader.Next();
  if (!record) return Fail(record.error());
  const auto* begin = *record == nullptr ? nullptr : std::get_if<record::Begin>(*record);
  if (begin == nullptr)
    return Fail(fmt::format("run {} does not begin with an engine", run.number));
  return *begin;
}

Result<std::vector<api::Node>> ReadNodes(const std::vector<std::string>& paths) {
  std::vector<api::Node> nodes;
  if (paths.empty()) return nodes;
  const api::Admission admission;
  const auto read = ReadObjects(paths, [&](api::Object object) -> Result<void> {
    if (!std::holds_alternative<api::Node>(object)) return {};
    if (auto ok = admission.Apply(object); !ok) return ok;
    nodes.push_back(std::get<api::Node>(std::move(object)));
    return {};
  });
  if (!read) return Fail(read.error().In("--nodes-add"));
  if (nodes.empty()) return Fail("--nodes-add: there is no node in " + paths.front());
  return nodes;
}

// The recorded configuration for another minor. It was recorded with all defaults in it, and some
// of these are unknown to older minors: profiles that are the default ones become those of the
// minor.
Result<config::KubeSchedulerConfiguration> Translated(const history::Rules& recorded,
                                                      const record::Begin& begin,
                                                      const config::Behaviour& behaviour) {
  config::KubeSchedulerConfiguration config = recorded.config;
  config.profiles = config::Default(recorded.behaviour).profiles;
  if (config::ToJson(config) == config::ToJson(recorded.config)) {
    config.profiles = config::Default(behaviour).profiles;
    return config;
  }
  auto loaded = config::Load(begin.config, behaviour);
  if (loaded) return loaded;
  return Fail(
      fmt::format("the recorded configuration is none of Kubernetes {}; give one with "
                  "--config: {}",
                  behaviour.kubernetes_version, loaded.error().Message()));
}

// The rules of the flags, where they are given, over the recorded ones.
Result<history::Rules> RulesOf(const OtherRules& other, const record::Begin& begin,
                               const history::Rules& recorded, const Plugins& plugins) {
  history::Rules rules = recorded;
  rules.extra_plugins = plugins.extra;
  if (other.behaviour.Given()) {
    auto behaviour = other.behaviour.Make("berth replay");
    if (!behaviour) return Fail(behaviour.error());
    rules.behaviour = *behaviour;
  }
  if (!other.config.empty()) {
    auto config = ReadConfig(other.config, rules.behaviour, "berth replay");
    if (!config) return Fail(config.error());
    rules.config = std::move(*config);
  } else if (other.behaviour.Given()) {
    auto config = Translated(recorded, begin, rules.behaviour);
    if (!config) return Fail(config.error());
    rules.config = std::move(*config);
  }
  return rules;
}

std::string InWords(const OtherRules& other, const history::Rules& rules) {
  std::vector<std::string> parts;
  if (!other.config.empty()) parts.push_back("configuration " + other.config);
  if (other.behaviour.Given()) parts.push_back("Kubernetes " + rules.behaviour.kubernetes_version);
  if (!other.added_nodes.empty()) {
    parts.push_back(fmt::format("nodes of {} added", fmt::join(other.added_nodes, ", ")));
  }
  if (!other.drain.empty()) parts.push_back(fmt::format("nodes with {} drained", other.drain));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<history::RerunResult> Run(history::RerunOptions options, std::string_view what) {
  uint64_t total = 0;
  for (const record::SegmentFile& segment : options.run.segments) total += segment.size;
  const auto progress = std::make_unique<term::Progress>(what, total);
  options.progress = [&](uint64_t bytes) { progress->Update(bytes); };
  return history::Rerun(options);
}

Result<void> WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Fail(fmt::format("--html {}: cannot be written", path));
  return {};
}

}  // namespace

void OtherRules::Add(term::Flags& flags) {
  flags.AddText("config", "FILE", "decide with this KubeSchedulerConfiguration instead", &config);
  behaviour.Add(flags);
  flags.AddList("nodes-add", "FILE", "with these nodes from the beginning; may be repeated",
                &added_nodes);
  flags.AddText("drain", "SELECTOR", "without the nodes with these labels, e.g. pool=old", &drain);
  flags.AddText("prices", "FILE", "with other rules: what nodes cost per hour, by their labels",
                &prices);
  flags.AddText("html", "FILE", "with other rules: also write a page with charts", &html);
}

Result<int> ReplayUnderOtherRules(const RunChoice& choice, OtherRules other,
                                  const std::string& output, const Plugins& plugins) {
  history::RerunOptions options;
  std::optional<api::Selector> drained;
  if (!other.drain.empty()) {
    auto selector = api::Selector::Parse(other.drain);
    if (!selector) return Fail(selector.error().In("--drain"));
    drained = std::move(*selector);
  }
  auto nodes = ReadNodes(other.added_nodes);
  if (!nodes) return Fail(nodes.error());
  if (!other.prices.empty()) {
    const auto text = files::ReadFile(other.prices);
    if (!text) return Fail(text.error().In("--prices"));
    auto prices = plan::PriceList::Parse(*text);
    if (!prices) return Fail(prices.error().In("--prices " + other.prices));
    options.prices = std::move(*prices);
  }
  auto run = ChooseRun(choice);
  if (!run) return Fail(run.error());
  const auto begin = FirstEngine(*run);
  if (!begin) return Fail(begin.error());
  auto recorded = history::RulesOf(*begin, plugins.extra);
  if (!recorded) return Fail(recorded.error());
  other.behaviour.SetDefault(static_cast<int>(begin->minor));
  auto rules = RulesOf(other, *begin, *recorded, plugins);
  if (!rules) return Fail(rules.error());
  if (!other.html.empty()) {
    // An error is reported before a long run, not after it.
    if (auto ok = WriteFile(other.html, ""); !ok) return Fail(ok.error());
  }
  options.run = std::move(*run);
  options.until_ns = choice.time_ns;
  options.rules = *recorded;
  const auto before = Run(options, "recorded rules");
  if (!before) return Fail(before.error().In("recorded rules"));
  options.rules = *rules;
  options.added_nodes = std::move(*nodes);
  options.drained = std::move(drained);
  const auto after = Run(options, "other rules");
  if (!after) return Fail(after.error().In("other rules"));
  const history::Difference difference =
      history::Compare(*before, *after, InWords(other, *rules), !other.prices.empty());
  if (!other.html.empty()) {
    if (auto ok = WriteFile(other.html, DifferencePage(difference)); !ok) return Fail(ok.error());
  }
  if (output == "json") {
    fmt::print("{}\n", api::ToJson(difference));
  } else {
    std::fputs(DifferenceText(difference, term::UsesColour(stdout)).c_str(), stdout);
  }
  return difference.damage.empty() ? 0 : 1;
}

}  // namespace berth::cli

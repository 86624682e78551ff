// Explanations of recorded cases: they agree with the decision, disturb nothing, and every
// suggested change really makes the pod fit.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json_dom.h"
#include "conformance/lines.h"
#include "conformance/replay.h"
#include "conformance/runner.h"
#include "explain/explainer.h"
#include "explain/suggestions.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::conformance {
namespace {

scheduler::NodeObjects NodesOf(simdjson::dom::element scenario) {
  scheduler::NodeObjects nodes;
  simdjson::dom::array list;
  if (scenario["objects"]["nodes"].get(list) != simdjson::SUCCESS) return nodes;
  for (const simdjson::dom::element item : list) {
    auto node = api::FromDom<api::Node>(item, "node");
    if (!node) continue;
    const std::string name = node->metadata.name;
    nodes[name] = std::make_shared<const api::Node>(std::move(*node));
  }
  return nodes;
}

scheduler::Source SourceOf(Replay& replay, const scheduler::NodeObjects& nodes) {
  scheduler::Source source;
  source.cluster = &replay.GetCluster();
  source.nodes = &nodes;
  for (const auto& profile : replay.Profiles().Profiles()) source.profiles.push_back(profile.get());
  return source;
}

// The case with its first `pods` pods scheduled.
std::unique_ptr<Replay> At(int minor, simdjson::dom::element scenario, size_t pods) {
  auto replay = Replay::Make(minor, scenario);
  if (!replay) return nullptr;
  for (size_t i = 0; i < pods; ++i) (void)(*replay)->Schedule((*replay)->Pods()[i], 1);
  return std::move(*replay);
}

std::string Disagreement(const explain::DecisionView& view, const PodResult& result) {
  if (result.gated || !result.error.empty() || result.nominated_first) return "";
  if (view.funnel.feasible != static_cast<int64_t>(result.feasible.size())) {
    return fmt::format("explained as feasible on {} nodes, decided {}", view.funnel.feasible,
                       result.feasible.size());
  }
  if (result.best.empty()) return "";
  const int64_t total = result.scores.find(result.best.front())->second.total;
  if (!result.scores.begin()->second.plugins.empty() && view.top_nodes.front().total != total) {
    return fmt::format("explained with a total of {}, decided with {}",
                       view.top_nodes.front().total, total);
  }
  const int64_t equals = view.tie ? view.tie->count : 1;
  if (equals != static_cast<int64_t>(result.best.size())) {
    return fmt::format("explained with {} equals, decided with {}", equals, result.best.size());
  }
  return "";
}

// What berth decides about the changed input, from scratch.
std::string Refuted(int minor, simdjson::dom::element scenario, size_t pod,
                    const explain::Suggestion& suggestion, const explain::ChangedInput& input) {
  const auto replay = At(minor, scenario, pod);
  cluster::Cluster& cluster = replay->GetCluster();
  for (const api::Node& node : input.nodes) cluster.SetNode(node);
  for (const std::string& uid : input.moved_pods) cluster.Unplace(cluster.FindPod(uid));
  const cluster::PodId id = replay->Pods()[pod];
  cluster.UpdatePod(id, input.pod);
  for (const api::Pod& sibling : input.siblings) {
    const cluster::PodId other = cluster.FindPod(sibling.metadata.uid);
    cluster.UpdatePod(other, sibling);
    if (cluster.GetPod(other).node != cluster::kNoNode) cluster.Unplace(other);
  }
  framework::Cycle* cycle = replay->Profiles().CycleFor(input.pod.spec.scheduler_name);
  for (const auto& [plugin, index] : cycle->profile().pre_enqueue) {
    if (!plugin->PreEnqueue(cluster, cluster.GetPod(id)).Ok()) return "is gated";
  }
  scheduler::Algorithm algorithm({.classes = false});
  scheduler::Decision decision;
  algorithm.Schedule(*cycle, cluster, cluster.GetPod(id), &decision, /*score_always=*/true);
  if (input.by_preemption) {
    framework::PostFilterResult room;
    if (decision.outcome != scheduler::Outcome::kUnschedulable) return "needs no room";
    for (const auto& [plugin, index] : cycle->profile().post_filter) {
      (void)plugin->PostFilter(*cycle, cluster, decision.diagnosis, &room);
    }
    return room.victims.empty() ? "evicts nobody" : "";
  }
  if (decision.outcome != scheduler::Outcome::kScheduled) return "does not fit";
  const bool counts = suggestion.kind != "Uncordon" && suggestion.kind != "AddNode";
  if (counts && static_cast<int64_t>(decision.feasible_count) != suggestion.nodes) {
    return fmt::format("fits on {} nodes", decision.feasible_count);
  }
  return "";
}

struct Counts {
  size_t pods = 0;
  size_t helped = 0;
  size_t suggestions = 0;
};

Checked CheckCase(int minor, simdjson::dom::element scenario, Counts* counts) {
  const std::string_view title = scenario["name"];
  const std::string name(title);
  Checked checked{name.substr(0, name.rfind('-')), ""};
  const scheduler::NodeObjects nodes = NodesOf(scenario);
  const auto plain = At(minor, scenario, 0);
  const auto explained = At(minor, scenario, 0);
  if (!plain) return checked;
  for (size_t i = 0; i < plain->Pods().size(); ++i) {
    const auto say = [&](std::string_view what) {
      checked.difference += fmt::format("{} pod {}: {}\n", name, i, what);
    };
    const cluster::PodId id = explained->Pods()[i];
    const auto view = explain::Explain(SourceOf(*explained, nodes), id, {.top = 3, .node = ""});
    const PodResult expected = plain->Schedule(plain->Pods()[i], 1);
    const PodResult result = explained->Schedule(id, 1);
    for (const std::string& line : Differences(expected, result)) say("disturbed: " + line);
    if (!view) continue;
    if (const std::string wrong = Disagreement(*view, result); !wrong.empty()) say(wrong);
    if (!result.feasible.empty() && !result.gated) continue;
    const auto scratch = At(minor, scenario, i);
    std::vector<explain::ChangedInput> inputs;
    const auto list = explain::Suggest(SourceOf(*scratch, nodes), scratch->Pods()[i], {}, &inputs);
    if (!list) continue;
    ++counts->pods;
    counts->suggestions += list->items.size();
    if (!list->items.empty()) ++counts->helped;
    for (size_t s = 0; s < list->items.size(); ++s) {
      const std::string why = Refuted(minor, scenario, i, list->items[s], inputs[s]);
      if (!why.empty()) say(fmt::format("\"{}\" {}", list->items[s].text, why));
    }
  }
  return checked;
}

}  // namespace

int RunExplanations(int minor, const std::string& file) {
  Counts counts;
  const int code = CheckLines(
      file, [&](simdjson::dom::element scenario) { return CheckCase(minor, scenario, &counts); });
  fmt::print("{} suggestions for {} of {} pods that did not fit\n", counts.suggestions,
             counts.helped, counts.pods);
  return code;
}

}  // namespace berth::conformance

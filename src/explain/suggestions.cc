#include "explain/suggestions.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "explain/causes.h"
#include "explain/explainer.h"
#include "explain/patches.h"
#include "explain/suggester.h"

namespace berth::explain {
namespace {

constexpr size_t kWhatIfPods = 25;  // in the manifests of a what-if

PodEdit Then(const PodEdit& first, const PodEdit& second) {
  if (!first) return second;
  if (!second) return first;
  return [first, second](api::Pod& pod) {
    first(pod);
    second(pod);
  };
}

std::string Nodes(int64_t count) { return count == 1 ? "1 node" : fmt::format("{} nodes", count); }

// Changes that name positions in the same list do not go together.
bool Conflict(const PodChange& first, const PodChange& second) {
  return second.kind == "RaiseMaxSkew" ||
         (first.kind == second.kind &&
          (first.kind.starts_with("DropPod") || first.kind == "DropNodeAffinity"));
}

}  // namespace

Suggester::Suggester(const scheduler::Source& source, const framework::Profile& profile,
                     cluster::PodId id, const SuggestOptions& options)
    : source_(source),
      cluster_(*source.cluster),
      options_(options),
      workload_(WorkloadOf(*source.cluster, id)),
      id_(id),
      rehearsal_(*source.cluster, profile, workload_) {}

SuggestionList Suggester::Run(std::vector<ChangedInput>* inputs) {
  const cluster::Pod& pod = cluster_.GetPod(id_);
  list_.namespace_ = pod.namespace_();
  list_.name = pod.name;
  list_.pending = static_cast<int64_t>(workload_.pending);
  if (!workload_.kind.empty()) list_.workload = workload_.kind + "/" + workload_.name;
  if (pod.node != cluster::kNoNode) {
    list_.message = "is on node " + cluster_.NodeName(pod.node);
    return std::move(list_);
  }
  Gates();
  now_ = base_ ? Try(PodEdit()) : TryAsIs();
  list_.feasible_now = now_.nodes;
  if (now_.fits) {
    if (gated_.empty()) list_.message = Fits(now_) + " now";
    return Finish(inputs);
  }
  if (gated_.empty()) list_.message = now_.message;
  for (Cause& cause : RootCauses(source_, workload_.pod().pod)) {
    list_.causes.push_back(std::move(cause));
  }
  const std::vector<PodChange> loosenings = Loosenings(cluster_, workload_.pod().pod);
  PodChanges(loosenings);
  Requests({});
  Cordoned();
  PodsInTheWay();
  Preemption();
  NewNodes();
  if (found_.empty() || OnlyNewNodes()) Pairs(loosenings);
  AddCauses();
  return Finish(inputs);
}

bool Suggester::Exhausted() const {
  return static_cast<size_t>(list_.tried) >= options_.max_trials || rehearsal_.Exhausted();
}

// An edit always implies that of the gates.
TrialResult Suggester::Try(Trial trial) {
  ++list_.tried;
  if (trial.edit || base_) trial.edit = Then(base_, trial.edit);
  return rehearsal_.Run(trial);
}

// "fits on 3 nodes"; of several replicas "all 5 pending pods fit".
std::string Suggester::Fits(const TrialResult& result) const {
  if (workload_.pending == 1) return "fits on " + Nodes(result.nodes);
  return Fit();
}

std::string Suggester::Fit() const {
  if (workload_.pending == 1) return "fits";
  return fmt::format("all {} pending pods fit", workload_.pending);
}

ChangedInput Suggester::InputOf(const PodEdit& edit) const {
  ChangedInput input;
  input.pod = workload_.pod().pod;
  const PodEdit whole = Then(base_, edit);
  if (whole) whole(input.pod);
  for (size_t i = 1; i < workload_.members.size(); ++i) {
    const Workload::Member& member = workload_.members[i];
    if (member.placed && !edit) continue;
    api::Pod& pod = input.siblings.emplace_back(member.pod);
    if (whole) whole(pod);
    pod.spec.node_name.clear();
  }
  return input;
}

Suggester::Found& Suggester::Add(std::string kind, std::string text, const TrialResult& result,
                                 ByName<std::string> change, const PodEdit& edit) {
  Found& found = found_.emplace_back();
  found.suggestion.kind = std::move(kind);
  found.suggestion.text = std::move(text);
  found.suggestion.nodes = result.nodes;
  found.suggestion.examples = result.examples;
  found.suggestion.change = std::move(change);
  found.input = InputOf(edit);
  if (edit) AddPatch(found, edit);
  AddWhatIf(found);
  return found;
}

void Suggester::AddPatch(Found& found, const PodEdit& edit) const {
  api::Pod changed = workload_.pod().pod;
  edit(changed);
  found.suggestion.patch = WorkloadPatch(workload_, SpecPatch(workload_.pod().pod, changed));
}

// The changed pods as manifests. A large workload would not fit into a link.
void Suggester::AddWhatIf(Found& found) const {
  if (found.input.siblings.size() >= kWhatIfPods) return;
  WhatIfRequest& request = found.suggestion.what_if.emplace();
  request.reschedule_pending = false;
  request.manifests = api::ToJson(found.input.pod);
  for (const api::Pod& pod : found.input.siblings) {
    request.manifests += "\n---\n" + api::ToJson(pod);
  }
}

// A gate keeps the pod out, whatever the nodes are like.
void Suggester::Gates() {
  const framework::Status gate = GateOf(source_, rehearsal_.search().profile(), id_);
  if (gate.Ok()) return;
  gated_ = gate.Message();
  list_.message = gated_;
  const auto& gates = workload_.pod().pod.spec.scheduling_gates;
  if (gates.empty()) return;
  std::vector<std::string> names;
  for (const auto& scheduling_gate : gates) names.push_back(scheduling_gate.name);
  const PodEdit open = [](api::Pod& pod) { pod.spec.scheduling_gates.clear(); };
  const TrialResult result = Try(open);
  const std::string joined = fmt::format("{}", fmt::join(names, ", "));
  list_.causes.push_back(
      {"SchedulingGate", fmt::format("scheduling gate {} holds it back", joined), ""});
  if (result.fits) {
    Add("RemoveGate", fmt::format("{} if scheduling gate {} were removed", Fits(result), joined),
        result, {{"gates", joined}}, open);
  }
  base_ = open;
}

void Suggester::PodChanges(const std::vector<PodChange>& changes) {
  std::set<std::string> raised;  // keys whose smallest helpful skew is known
  for (const PodChange& change : changes) {
    if (Exhausted()) return;
    const bool skew = change.kind == "RaiseMaxSkew";
    const std::string key = skew ? change.change.find("topologyKey")->second : "";
    if (skew && raised.contains(key)) continue;
    const TrialResult result = Try(change.apply);
    if (!result.fits) continue;
    if (skew) raised.insert(key);
    Add(change.kind, fmt::format("{} if {}", Fits(result), change.text), result, change.change,
        change.apply);
    if (change.kind == "DropNodeSelector") {
      LabelNodes(change.change.find("key")->second, change.change.find("value")->second,
                 result.examples);
    }
  }
}

bool Suggester::OnlyNewNodes() const {
  return std::all_of(found_.begin(), found_.end(), [](const Found& found) {
    return found.suggestion.kind == "AddNode" || found.suggestion.kind == "RaisePriority";
  });
}

void Suggester::Pairs(const std::vector<PodChange>& changes) {
  now_.rejected_by.insert("NodeResourcesFit");
  for (const PodChange& first : changes) {
    if (first.kind == "RaiseMaxSkew") continue;  // dropping it says whether it matters
    Requests({first.text, first.change, first.apply});
    for (const PodChange& second : changes) {
      if (&second <= &first || Exhausted() || Conflict(first, second)) continue;
      const PodEdit both = Then(first.apply, second.apply);
      const TrialResult result = Try(both);
      if (!result.fits) continue;
      ByName<std::string> change;
      change["first"] = first.kind;
      change["second"] = second.kind;
      Add("Several", fmt::format("{} if {} and {}", Fits(result), first.text, second.text), result,
          std::move(change), both);
    }
  }
}

// What helps says what is wrong.
void Suggester::AddCauses() {
  std::vector<Suggestion> found;
  for (const Found& entry : found_) found.push_back(entry.suggestion);
  AddCausesOf(found, workload_, now_.message, &list_.causes);
}

SuggestionList Suggester::Finish(std::vector<ChangedInput>* inputs) {
  // Nearest first: what the user can change in the pod, then by nodes.
  const auto rank = [](const Found& found) {
    const std::string& kind = found.suggestion.kind;
    return kind == "Several" ? 2 : kind == "AddNode" || kind == "RaisePriority" ? 1 : 0;
  };
  std::stable_sort(found_.begin(), found_.end(), [&](const Found& a, const Found& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.suggestion.nodes > b.suggestion.nodes;
  });
  if (found_.size() > options_.shown) found_.resize(options_.shown);
  for (Found& found : found_) {
    list_.items.push_back(std::move(found.suggestion));
    if (inputs != nullptr) inputs->push_back(std::move(found.input));
  }
  return std::move(list_);
}

Result<SuggestionList> Suggest(const scheduler::Source& source, cluster::PodId id,
                               const SuggestOptions& options, std::vector<ChangedInput>* inputs) {
  const std::string& scheduler = source.cluster->GetPod(id).shape->source.spec.scheduler_name;
  const framework::Profile* profile = source.ProfileFor(scheduler);
  if (profile == nullptr) {
    return Fail(fmt::format("pod {} belongs to scheduler \"{}\", which is not this one",
                            source.cluster->GetPod(id).Key(), scheduler));
  }
  return Suggester(source, *profile, id, options).Run(inputs);
}

}  // namespace berth::explain

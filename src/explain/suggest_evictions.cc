// Other pods that would have to go. What is suggested leaves none of them without a node.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/rules/label_selector.h"
#include "explain/causes.h"
#include "explain/patches.h"
#include "explain/suggester.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

constexpr size_t kExamples = 5;
constexpr size_t kMaxNodesTried = 32;
constexpr size_t kMaxMoved = 5;  // pods that would have to go elsewhere
constexpr size_t kMaxPriorities = 5;

// Does some required anti-affinity term of `from` cover a pod with `labels` in `namespace_`?
// Namespace selectors count as covering: the trial decides.
bool KeepsAway(const api::Pod& from, const std::string& from_namespace,
               const api::StringMap& labels, const std::string& namespace_) {
  if (!from.spec.affinity || !from.spec.affinity->pod_anti_affinity) return false;
  for (const api::PodAffinityTerm& term :
       from.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution) {
    const bool named =
        term.namespace_selector ||
        (term.namespaces.empty() ? from_namespace == namespace_
                                 : std::find(term.namespaces.begin(), term.namespaces.end(),
                                             namespace_) != term.namespaces.end());
    if (!named || !term.label_selector) continue;
    const auto selector = api::Selector::From(*term.label_selector);
    if (selector && selector->Matches(labels)) return true;
  }
  return false;
}

}  // namespace

bool Suggester::InTheWay(const cluster::Pod& other) const {
  const cluster::Pod& mine = cluster_.GetPod(id_);
  for (const cluster::HostPort& port : mine.shape->host_ports) {
    for (const cluster::HostPort& taken : other.shape->host_ports) {
      if (port.port == taken.port) return true;
    }
  }
  const api::Pod& pod = workload_.pod().pod;
  return KeepsAway(other.shape->source, other.namespace_(), mine.shape->source.metadata.labels,
                   mine.namespace_()) ||
         KeepsAway(pod, mine.namespace_(), other.shape->source.metadata.labels, other.namespace_());
}

// Nodes where one or few pods stand in the way by anti-affinity or host ports.
void Suggester::PodsInTheWay() {
  if (!now_.rejected_by.contains("InterPodAffinity") && !now_.rejected_by.contains("NodePorts")) {
    return;
  }
  std::map<NodeIndex, std::vector<PodId>> by_node;
  cluster_.Nodes().ForEach([&](NodeIndex n) {
    for (const PodId id : cluster_.Record(n).pods) {
      if (InTheWay(cluster_.GetPod(id))) by_node[n].push_back(id);
    }
  });
  size_t tried = 0;
  size_t found = 0;
  for (const auto& [n, pods] : by_node) {
    if (++tried > kMaxNodesTried || found == 2 || Exhausted()) return;
    if (pods.size() > kMaxMoved || AnySibling(cluster_, id_, pods)) continue;
    if (MovePods(n, pods)) ++found;
  }
}

bool Suggester::MovePods(NodeIndex node, const std::vector<PodId>& pods) {
  Trial trial;
  trial.moved = pods;
  const TrialResult result = Try(trial);
  if (!result.fits) return false;
  std::vector<std::string> names;
  for (const PodId id : pods) names.push_back(cluster_.GetPod(id).Key());
  const std::string joined = fmt::format("{}", fmt::join(names, ", "));
  Found& found = Add("MovePods",
                     fmt::format("{} if {} {} not on {}; {} elsewhere", Fits(result), joined,
                                 pods.size() == 1 ? "were" : "were all", cluster_.NodeName(node),
                                 pods.size() == 1 ? "it fits" : "they fit"),
                     result, {{"node", cluster_.NodeName(node)}, {"pods", joined}}, PodEdit());
  for (const PodId id : pods) found.input.moved_pods.push_back(cluster_.GetPod(id).uid);
  found.suggestion.what_if.reset();
  return true;
}

void Suggester::Evictions(std::string kind, const std::string& condition, const TrialResult& result,
                          ByName<std::string> change, const PodEdit& edit) {
  TrialResult shown = result;
  std::set<std::string> broken;
  std::string where;
  if (!result.preemption.candidates.empty()) {
    const auto& candidates = result.preemption.candidates;
    shown.nodes = result.preemption.candidate_count;
    shown.examples.clear();
    for (const PreemptionCandidate& candidate : candidates) {
      if (shown.examples.size() < kExamples) shown.examples.push_back(candidate.node);
    }
    for (const Victim& victim : candidates.front().victims) {
      if (victim.violates_pdb) broken.insert(victim.pdbs.begin(), victim.pdbs.end());
    }
    if (workload_.pending == 1) where = " from " + candidates.front().node;
  }
  const bool one = result.victims.size() == 1;
  std::string text =
      workload_.pending == 1
          ? fmt::format("gets room on {} {} if {}", shown.nodes,
                        shown.nodes == 1 ? "node" : "nodes", condition)
          : fmt::format("all {} pending pods get room if {}", workload_.pending, condition);
  text += fmt::format(": evicts {} {}{}, which {} elsewhere", result.victims.size(),
                      one ? "pod" : "pods", where, one ? "fits" : "fit");
  if (!broken.empty()) text += fmt::format(", against PDB {}", fmt::join(broken, ", "));
  Found& found = Add(std::move(kind), std::move(text), shown, std::move(change), edit);
  found.input.by_preemption = true;
}

void Suggester::Preemption() {
  if (Exhausted()) return;
  const api::Pod& pod = workload_.pod().pod;
  Trial trial;
  trial.evict = true;
  if (pod.spec.preemption_policy && *pod.spec.preemption_policy == "Never") {
    const PodEdit allow = [](api::Pod& p) {
      p.spec.preemption_policy = std::string("PreemptLowerPriority");
    };
    trial.edit = allow;
    const TrialResult result = Try(trial);
    if (result.fits && !result.victims.empty()) {
      Evictions("AllowPreemption", "its preemptionPolicy were PreemptLowerPriority", result,
                {{"preemptionPolicy", "PreemptLowerPriority"}}, allow);
      return;
    }
  }
  const int32_t own = cluster_.GetPod(id_).shape->priority;
  std::set<int32_t> priorities;
  cluster_.Nodes().ForEach([&](NodeIndex n) {
    for (const PodId other : cluster_.Record(n).pods) {
      const int32_t priority = cluster_.GetPod(other).shape->priority;
      if (priority >= own && priority < 1'000'000'000) priorities.insert(priority);
    }
  });
  size_t tried = 0;
  for (const int32_t priority : priorities) {
    if (++tried > kMaxPriorities || Exhausted()) return;
    const PodEdit raise = [priority](api::Pod& p) {
      p.spec.priority = priority + 1;
      if (p.spec.preemption_policy) p.spec.preemption_policy = std::string("PreemptLowerPriority");
    };
    trial.edit = raise;
    const TrialResult result = Try(trial);
    if (!result.fits || result.victims.empty()) continue;
    Evictions("RaisePriority", fmt::format("its priority were above {}", priority), result,
              {{"from", std::to_string(own)}, {"to", std::to_string(priority + 1)}}, raise);
    // A priority comes from a class.
    Suggestion& suggestion = found_.back().suggestion;
    const std::string name = fmt::format("above-{}", priority);
    const std::string unset =
        workload_.kind.empty() ? R"(,"priority":null,"preemptionPolicy":null)" : "";
    const std::string patch =
        WorkloadPatch(workload_, fmt::format(R"({{"priorityClassName":"{}"{}}})", name, unset));
    suggestion.patch = patch.starts_with("kubectl")
                           ? fmt::format("kubectl create priorityclass {} --value={} && {}", name,
                                         priority + 1, patch)
                           : patch;
    return;
  }
}

}  // namespace berth::explain

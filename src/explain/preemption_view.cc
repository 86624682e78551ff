// What preemption looks at for a pod, and why one candidate is preferred to the others.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/rules/label_selector.h"
#include "cluster/objects/object_store.h"
#include "explain/explainer.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::explain {
namespace {

using plugins::default_preemption::Candidate;
using plugins::default_preemption::DefaultPreemption;
using plugins::default_preemption::DisruptionBudgets;
using plugins::default_preemption::DisruptionUnit;

constexpr size_t kShown = 20;
constexpr size_t kExamples = 5;

DefaultPreemption* FindPlugin(const framework::Profile& profile) {
  for (const auto& [plugin, index] : profile.post_filter) {
    if (auto* found = dynamic_cast<DefaultPreemption*>(plugin)) return found;
  }
  return nullptr;
}

// Budgets that cover a pod, by name.
std::vector<std::string> BudgetsOf(const cluster::Cluster& cluster, const cluster::Pod& pod) {
  std::vector<std::string> names;
  const api::StringMap& labels = pod.shape->source.metadata.labels;
  cluster.Objects().pod_disruption_budgets.ForEach([&](const api::PodDisruptionBudget& pdb) {
    if (pdb.metadata.namespace_ != pod.namespace_()) return;
    const auto selector = api::Selector::From(pdb.spec.selector);
    if (!selector || selector->Empty() || selector->MatchesNothing()) return;
    if (selector->Matches(labels)) names.push_back(pdb.metadata.name);
  });
  return names;
}

PreemptionCandidate ToView(const cluster::Cluster& cluster, const DisruptionBudgets& budgets,
                           const Candidate& candidate) {
  PreemptionCandidate view;
  view.node = cluster.NodeName(candidate.node);
  view.pdb_violations = candidate.pdb_violations;
  std::vector<DisruptionUnit> units;
  for (const cluster::PodId id : candidate.victims) units.push_back({0, false, {}, {id}});
  std::vector<DisruptionBudgets::Violation> violations;
  std::vector<DisruptionUnit> others;
  budgets.Split(cluster, std::move(units), &violations, &others);
  std::vector<cluster::PodId> violating;
  for (const auto& violation : violations) violating.push_back(violation.unit.pods.front());
  for (const cluster::PodId id : candidate.victims) {
    const cluster::Pod& pod = cluster.GetPod(id);
    Victim victim{pod.namespace_(), pod.name, pod.shape->priority, false, BudgetsOf(cluster, pod)};
    victim.violates_pdb =
        candidate.pdb_violations > 0 &&
        (violating.empty() ? !victim.pdbs.empty()
                           : std::find(violating.begin(), violating.end(), id) != violating.end());
    view.sum_of_priorities += victim.priority;
    view.victims.push_back(std::move(victim));
  }
  if (!view.victims.empty()) view.highest_victim_priority = view.victims.front().priority;
  return view;
}

// The first of kube-scheduler's measures in which `other` is worse than `best`.
std::string WhyLost(const PreemptionCandidate& best, const PreemptionCandidate& other) {
  if (other.pdb_violations != best.pdb_violations) {
    return fmt::format("breaks {} disruption budgets, not {}", other.pdb_violations,
                       best.pdb_violations);
  }
  if (other.highest_victim_priority != best.highest_victim_priority) {
    return fmt::format("its highest victim has priority {}, not {}", other.highest_victim_priority,
                       best.highest_victim_priority);
  }
  if (other.victims.size() == best.victims.size() &&
      other.sum_of_priorities != best.sum_of_priorities) {
    return fmt::format("its victims' priorities add up to {}, not {}", other.sum_of_priorities,
                       best.sum_of_priorities);
  }
  if (other.victims.size() != best.victims.size()) {
    return fmt::format("has {} victims, not {}", other.victims.size(), best.victims.size());
  }
  return "its most important victim has run longer";
}

std::vector<Rejection> Hopeless(const cluster::Cluster& cluster,
                                const DefaultPreemption::Report& report) {
  std::map<std::pair<std::string, std::string>, Rejection> reasons;
  for (const auto& [node, status] : report.not_candidates) {
    Rejection& rejection = reasons[{std::string(status.plugin()), status.Message()}];
    rejection.plugin = status.plugin();
    rejection.reason = status.Message();
    rejection.code = framework::CodeName(status.code());
    ++rejection.nodes;
    if (rejection.examples.size() < kExamples) {
      rejection.examples.push_back(cluster.NodeName(node));
    }
  }
  std::vector<Rejection> list;
  for (auto& [key, rejection] : reasons) list.push_back(std::move(rejection));
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return list;
}

}  // namespace

PreemptionView ViewPreemption(Search& search, cluster::Cluster& cluster) {
  PreemptionView view;
  DefaultPreemption* plugin = FindPlugin(search.profile());
  if (plugin == nullptr || !search.pre_filter().Ok()) return view;
  view.message = DefaultPreemption::NotEligible(search.cycle(), cluster, search.diagnosis());
  if (!view.message.empty()) return view;
  const DefaultPreemption::Report report =
      plugin->Evaluate(search.cycle(), cluster, search.diagnosis());
  view.hopeless = Hopeless(cluster, report);
  view.candidate_count = static_cast<int64_t>(report.candidates.size());
  if (report.candidates.empty()) {
    view.message = "evicting less important pods helps on no node";
    return view;
  }
  DisruptionBudgets budgets;
  budgets.Refresh(cluster);
  const PreemptionCandidate best = ToView(cluster, budgets, report.candidates[report.best.front()]);
  const auto is_best = [&](size_t i) {
    return std::find(report.best.begin(), report.best.end(), i) != report.best.end();
  };
  const auto add = [&](size_t i) {
    if (view.candidates.size() >= kShown) return;
    PreemptionCandidate candidate = ToView(cluster, budgets, report.candidates[i]);
    candidate.chosen = i == report.best.front();
    if (!candidate.chosen) {
      candidate.lost = is_best(i) ? "equal; decided by lot" : WhyLost(best, candidate);
    }
    view.candidates.push_back(std::move(candidate));
  };
  for (const size_t i : report.best) add(i);
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    if (!is_best(i)) add(i);
  }
  view.nominated_node = best.node;
  view.message = fmt::format("evicting {} less important pods would make room on {} nodes",
                             best.victims.size(), report.candidates.size());
  return view;
}

}  // namespace berth::explain

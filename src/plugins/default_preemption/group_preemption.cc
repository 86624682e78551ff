#include "plugins/default_preemption/group_preemption.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/pods/group_state.h"
#include "cluster/transaction.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using framework::Code;
using framework::Status;

constexpr std::string_view kNever = "Never";

}  // namespace

Status GroupPreemption::Run(const framework::PodGroupInfo& info, framework::PodGroupTrial& trial,
                            framework::PodGroupPostFilterResult* result) {
  if (!MayPreempt(info))
    return Status::Unschedulable("not eligible due to preemptionPolicy=Never.");
  if (IsOngoing(info)) {
    for (const PodId id : info.unscheduled) {
      result->nominations.emplace_back(id, cluster_.GetPod(id).nominated_node_name);
    }
    return {Code::kSuccess, "ongoing preemption on nominated nodes"};
  }
  std::vector<DisruptionUnit> potential =
      UnitsBelow(cluster_, cluster_.NodeOrder(), cluster::PriorityOf(cluster_, info.group), rules_);
  if (potential.empty()) {
    return Status::Unresolvable("No preemption victims found for incoming preemptor");
  }
  cluster::Transaction search(cluster_);
  return SelectVictims(std::move(potential), trial, result);
}

bool GroupPreemption::MayPreempt(const framework::PodGroupInfo& info) const {
  if (group_policy_) return info.group.spec.preemption_policy != kNever;
  return std::ranges::none_of(info.unscheduled,
                              [&](PodId id) { return cluster_.GetPod(id).shape->never_preempts; });
}

// Are victims of an earlier preemption still terminating on a node that was promised to the group?
bool GroupPreemption::IsOngoing(const framework::PodGroupInfo& info) const {
  const int32_t priority = cluster::PriorityOf(cluster_, info.group);
  return std::ranges::any_of(info.unscheduled, [&](PodId id) {
    const std::string& nominated = cluster_.GetPod(id).nominated_node_name;
    const NodeIndex n = nominated.empty() ? cluster::kNoNode : cluster_.FindNode(nominated);
    return n != cluster::kNoNode && std::ranges::any_of(cluster_.Record(n).pods, [&](PodId other) {
             const cluster::Pod& pod = cluster_.GetPod(other);
             return pod.terminating && pod.preempted &&
                    VictimPriority(cluster_, pod, rules_) < priority;
           });
  });
}

Status GroupPreemption::SelectVictims(std::vector<DisruptionUnit> potential,
                                      framework::PodGroupTrial& trial,
                                      framework::PodGroupPostFilterResult* result) {
  home_.assign(cluster_.PodIdLimit(), cluster::kNoNode);
  for (const DisruptionUnit& unit : potential) {
    for (const PodId id : unit.pods) {
      home_[id] = cluster_.GetPod(id).node;
      cluster_.Unplace(id);
    }
  }
  if (Status status = trial.Run(&assignments_); !status.Ok()) return status;
  SortByImportance(potential, rules_);
  std::vector<DisruptionBudgets::Violation> violating;
  std::vector<DisruptionUnit> others;
  budgets_.Split(cluster_, std::move(potential), &violating, &others);
  std::vector<DisruptionUnit> victims;
  bool spared = false;
  for (auto& [unit, violations] : violating) {
    if (Status status = Reprieve(unit, &spared); !status.Ok()) return status;
    if (spared) continue;
    victims.push_back(std::move(unit));
    result->pdb_violations += violations;
  }
  for (DisruptionUnit& unit : others) {
    if (Status status = Reprieve(unit, &spared); !status.Ok()) return status;
    if (!spared) victims.push_back(std::move(unit));
  }
  SortByImportance(victims, rules_);
  for (const DisruptionUnit& unit : victims) {
    result->group_disruptions += unit.of_group ? 1 : 0;
    result->victims.insert(result->victims.end(), unit.pods.begin(), unit.pods.end());
  }
  for (const auto& [proposed, state] : assignments_) {
    result->nominations.emplace_back(proposed.pod, cluster_.NodeName(proposed.node));
  }
  return {Code::kSuccess, fmt::format("found a placement for podgroup, preempting {} victims",
                                      result->victims.size())};
}

Status GroupPreemption::Reprieve(DisruptionUnit& unit, bool* spared) {
  *spared = false;
  for (const PodId id : unit.pods) {
    cluster_.Place(id, home_[id], /*assumed=*/false);
    if (Status status = Notify(id, /*added=*/true); !status.Ok()) return status;
  }
  *spared = AllFit();
  if (*spared) return {};
  for (const PodId id : unit.pods) {
    cluster_.Unplace(id);
    if (Status status = Notify(id, /*added=*/false); !status.Ok()) return status;
  }
  return {};
}

// Tells the plugins, in the state of every pod of the group.
Status GroupPreemption::Notify(PodId victim, bool added) {
  const cluster::Pod& pod = cluster_.GetPod(victim);
  for (auto& [proposed, state] : assignments_) {
    cycle_.Exchange(state);
    Status status =
        added ? cycle_.AddPod(pod, home_[victim]) : cycle_.RemovePod(pod, home_[victim]);
    cycle_.Exchange(state);
    if (!status.Ok()) return status;
  }
  return {};
}

// Does every pod still fit where the trial put it, beside those before it? As in kube-scheduler, a
// pod's state knows the pods before it and none after.
bool GroupPreemption::AllFit() {
  cluster::Transaction check(cluster_);
  size_t fitting = 0;
  bool fits = true;
  for (; fitting < assignments_.size(); ++fitting) {
    auto& [proposed, state] = assignments_[fitting];
    cycle_.Exchange(state);
    fits = framework::FeasibleWithNominated(cycle_, cluster_, proposed.node);
    if (fits) {
      cluster_.Place(proposed.pod, proposed.node, /*assumed=*/true);
      for (const auto& [plugin, index] : cycle_.profile().reserve) {
        if (!plugin->Reserve(cycle_.context(), cycle_.state(index), proposed.node).Ok()) break;
      }
    }
    cycle_.Exchange(state);
    if (!fits) break;
  }
  while (fitting > 0) {
    auto& [proposed, state] = assignments_[--fitting];
    cycle_.Exchange(state);
    const auto& reserve = cycle_.profile().reserve;
    for (auto back = reserve.rbegin(); back != reserve.rend(); ++back) {
      back->plugin->Unreserve(cycle_.context(), cycle_.state(back->index), proposed.node);
    }
    cycle_.Exchange(state);
  }
  return fits;
}

}  // namespace berth::plugins::default_preemption

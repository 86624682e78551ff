#include "plugins/default_preemption/dry_run.h"

#include <algorithm>

#include "cluster/transaction.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::plugins::default_preemption {

using cluster::PodId;

bool DryRun::SelectVictims(cluster::NodeIndex node, Candidate* candidate, NoCandidate* why) {
  node_ = node;
  failed_ = false;
  removed_.clear();
  std::vector<DisruptionUnit> potential =
      UnitsBelow(cluster_, {&node_, 1}, cycle_.context().shape.priority, rules_);
  if (potential.empty()) {
    why->no_victims = true;
    return false;
  }
  cluster::Transaction trial(cluster_);
  const framework::Verdict before = cycle_.verdicts()[node];
  const bool found = Select(potential, candidate, why);
  trial.Rollback();
  for (; !removed_.empty(); removed_.pop_back()) {
    Fails(cycle_.AddPod(cluster_.GetPod(removed_.back().pod), removed_.back().node));
  }
  cycle_.mutable_verdicts()[node] = before;
  return found;
}

bool DryRun::Select(std::vector<DisruptionUnit>& potential, Candidate* candidate,
                    NoCandidate* why) {
  for (const DisruptionUnit& unit : potential) {
    if (!Remove(unit)) break;
  }
  if (failed_ || !framework::FeasibleWithNominated(cycle_, cluster_, node_)) {
    why->verdict = cycle_.verdicts()[node_];
    return false;
  }
  SortByImportance(potential, rules_);
  std::vector<DisruptionBudgets::Violation> violating;
  std::vector<DisruptionUnit> others;
  budgets_.Split(cluster_, std::move(potential), &violating, &others);
  std::vector<DisruptionUnit> victims;
  candidate->node = node_;
  candidate->pdb_violations = 0;
  const bool mixed = !violating.empty() && !others.empty();
  for (auto& [unit, violations] : violating) {
    if (Reprieve(unit)) continue;
    victims.push_back(std::move(unit));
    candidate->pdb_violations += violations;
  }
  for (DisruptionUnit& unit : others) {
    if (!Reprieve(unit)) victims.push_back(std::move(unit));
  }
  if (failed_) {
    why->verdict = cycle_.verdicts()[node_];
    return false;
  }
  if (mixed) SortByImportance(victims, rules_);
  candidate->victims.clear();
  for (const DisruptionUnit& unit : victims) {
    candidate->victims.insert(candidate->victims.end(), unit.pods.begin(), unit.pods.end());
  }
  return true;
}

bool DryRun::Remove(const DisruptionUnit& unit) {
  for (const PodId id : unit.pods) {
    const cluster::NodeIndex node = cluster_.GetPod(id).node;
    removed_.push_back({id, node});
    cluster_.Unplace(id);
    if (Fails(cycle_.RemovePod(cluster_.GetPod(id), node))) return false;
  }
  return true;
}

bool DryRun::Reprieve(const DisruptionUnit& unit) {
  if (failed_) return false;
  cluster::Transaction back(cluster_);
  std::vector<Removed> returned;
  for (const PodId id : unit.pods) {
    const auto it = std::find_if(removed_.begin(), removed_.end(),
                                 [&](const Removed& removed) { return removed.pod == id; });
    returned.push_back(*it);
    removed_.erase(it);
    cluster_.Place(id, returned.back().node, /*assumed=*/false);
    if (Fails(cycle_.AddPod(cluster_.GetPod(id), returned.back().node))) break;
  }
  if (failed_ || framework::FeasibleWithNominated(cycle_, cluster_, node_)) {
    back.Commit();
    return !failed_;
  }
  back.Rollback();
  for (const Removed& again : returned) {
    removed_.push_back(again);
    Fails(cycle_.RemovePod(cluster_.GetPod(again.pod), again.node));
  }
  return false;
}

bool DryRun::Fails(const framework::Status& status) {
  if (status.Ok()) return false;
  cycle_.RejectWithError(status, node_);
  failed_ = true;
  return true;
}

}  // namespace berth::plugins::default_preemption

#include "plugins/default_preemption/dry_run.h"

#include <algorithm>

#include "cluster/transaction.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::plugins::default_preemption {

using cluster::PodId;

bool MoreImportant(const cluster::Pod& a, const cluster::Pod& b) {
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  // A pod that has not started yet starts now, later than all others.
  if (a.start_time.IsZero() || b.start_time.IsZero()) return !a.start_time.IsZero();
  return a.start_time < b.start_time;
}

// Of two pods that have not started kube-scheduler takes the one it asks about first for the older
// one, so that its sorting turns such pods around.
void SortByImportance(const cluster::Cluster& cluster, std::vector<PodId>& pods) {
  std::stable_sort(pods.begin(), pods.end(), [&](PodId a, PodId b) {
    return MoreImportant(cluster.GetPod(a), cluster.GetPod(b));
  });
  const auto priority = [&](PodId id) { return cluster.GetPod(id).shape->priority; };
  const auto waits = [&](PodId id) { return cluster.GetPod(id).start_time.IsZero(); };
  for (auto from = pods.begin(); from != pods.end();) {
    if (!waits(*from)) {
      ++from;
      continue;
    }
    const auto to = std::find_if(
        from, pods.end(), [&](PodId id) { return !waits(id) || priority(id) != priority(*from); });
    std::reverse(from, to);
    from = to;
  }
}

bool DryRun::SelectVictims(cluster::NodeIndex node, Candidate* candidate, NoCandidate* why) {
  node_ = node;
  failed_ = false;
  removed_.clear();
  const int32_t priority = cycle_.context().shape.priority;
  potential_.clear();
  for (const PodId id : cluster_.Record(node_).pods) {
    if (cluster_.GetPod(id).shape->priority < priority) potential_.push_back(id);
  }
  if (potential_.empty()) {
    why->no_victims = true;
    return false;
  }
  cluster::Transaction trial(cluster_);
  const framework::Verdict before = cycle_.verdicts()[node];
  const bool found = Select(candidate, why);
  trial.Rollback();
  for (; !removed_.empty(); removed_.pop_back()) {
    Fails(cycle_.AddPod(cluster_.GetPod(removed_.back()), node_));
  }
  cycle_.mutable_verdicts()[node] = before;
  return found;
}

bool DryRun::Select(Candidate* candidate, NoCandidate* why) {
  for (const PodId id : potential_) {
    if (!Remove(id)) break;
  }
  if (failed_ || !framework::FeasibleWithNominated(cycle_, cluster_, node_)) {
    why->verdict = cycle_.verdicts()[node_];
    return false;
  }
  SortByImportance(cluster_, potential_);
  std::vector<PodId> violating;
  std::vector<PodId> others;
  budgets_.Split(cluster_, potential_, &violating, &others);
  candidate->node = node_;
  candidate->victims.clear();
  candidate->pdb_violations = 0;
  for (const PodId id : violating) {
    if (Reprieve(id)) continue;
    candidate->victims.push_back(id);
    ++candidate->pdb_violations;
  }
  for (const PodId id : others) {
    if (!Reprieve(id)) candidate->victims.push_back(id);
  }
  if (failed_) {
    why->verdict = cycle_.verdicts()[node_];
    return false;
  }
  if (!violating.empty() && !others.empty()) {
    SortByImportance(cluster_, candidate->victims);
  }
  return true;
}

bool DryRun::Remove(PodId id) {
  removed_.push_back(id);
  cluster_.Unplace(id);
  return !Fails(cycle_.RemovePod(cluster_.GetPod(id), node_));
}

bool DryRun::Reprieve(PodId id) {
  if (failed_) return false;
  cluster::Transaction back(cluster_);
  cluster_.Place(id, node_, /*assumed=*/false);
  removed_.erase(std::find(removed_.begin(), removed_.end(), id));
  const bool follows = !Fails(cycle_.AddPod(cluster_.GetPod(id), node_));
  if (!follows || framework::FeasibleWithNominated(cycle_, cluster_, node_)) {
    back.Commit();
    return follows;
  }
  back.Rollback();
  removed_.push_back(id);
  Fails(cycle_.RemovePod(cluster_.GetPod(id), node_));
  return false;
}

bool DryRun::Fails(const framework::Status& status) {
  if (status.Ok()) return false;
  cycle_.RejectWithError(status, node_);
  failed_ = true;
  return true;
}

}  // namespace berth::plugins::default_preemption

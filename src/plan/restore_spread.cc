#include "plan/restore_spread.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/transaction.h"
#include "plan/budgets.h"
#include "plan/gangs.h"
#include "plan/spread_excess.h"

namespace berth::plan {
namespace {

using cluster::PodId;

class Restoration {
 public:
  Restoration(Inventory& inventory, Mover& mover, const RestoreSpreadOptions& options)
      : inventory_(inventory),
        cluster_(inventory.cluster()),
        mover_(mover),
        options_(options),
        budgets_(cluster_),
        gangs_(inventory),
        excess_(cluster_, options.soft) {
    plan_.question = "restore-spread";
    plan_.nodes_before = static_cast<int64_t>(cluster_.NodeCount());
    plan_.nodes_after = plan_.nodes_before;
    plan_.excess_before = excess_.Total();
  }

  Plan Run() {
    for (bool moved = true; moved && excess_.Total() > 0 && MayGoOn();) {
      moved = false;
      for (const PodId pod : Candidates()) {
        if (excess_.Total() == 0 || plan_.moves >= options_.max_moves || !MayGoOn()) break;
        if (excess_.InOverfullDomain(cluster_.GetPod(pod))) moved |= Try(pod);
      }
    }
    plan_.excess_after = excess_.Total();
    plan_.warnings = excess_.Violations();
    if (local_data_ > 0) {
      plan_.warnings.push_back(
          fmt::format("{} of the pods have emptyDir volumes, whose content is lost", local_data_));
    }
    NoteAssumptions(inventory_, &plan_);
    NoteBudgets(budgets_, &plan_);
    return std::move(plan_);
  }

 private:
  bool MayGoOn() { return !options_.go_on || options_.go_on(trials_); }

  // Pods of overfull domains that may be evicted, in the order in which they are tried.
  std::vector<PodId> Candidates() const {
    std::vector<PodId> pods;
    for (PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (!cluster_.PodExists(id)) continue;
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (pod.node == cluster::kNoNode || pod.terminating) continue;
      if (!excess_.InOverfullDomain(pod)) continue;
      const PodFacts& facts = inventory_.Facts(pod);
      if (facts.fate != Fate::kReplaced || !facts.protected_by.empty()) continue;
      if (facts.local_blocks && !options_.lose_local_data) continue;
      pods.push_back(id);
    }
    std::sort(pods.begin(), pods.end(), [&](PodId a, PodId b) { return Rank(a) < Rank(b); });
    return pods;
  }

  std::tuple<int32_t, int32_t, int64_t, const std::string&, const std::string&> Rank(
      PodId id) const {
    const cluster::Pod& pod = cluster_.GetPod(id);
    const int64_t age = pod.creation_timestamp.IsZero() ? 0 : pod.creation_timestamp.UnixNano();
    return {pod.shape->priority, inventory_.Facts(pod).deletion_cost, -age, pod.namespace_(),
            pod.name};
  }

  // Moves the pod if that helps. Every trial begins with the same random numbers, so that a pod
  // which was of no use is of no use either when the plan is made again.
  bool Try(PodId id) {
    ++trials_;
    const cluster::Pod& pod = cluster_.GetPod(id);
    std::string why;
    if (!gangs_.MayLeave(pod, &why) || !budgets_.Take(pod, &why)) return false;
    const cluster::NodeIndex from = pod.node;
    const int64_t before = excess_.Total();
    mover_.Restart();
    cluster::Transaction trial(cluster_);
    mover_.Evict(id);
    const Landing landing = mover_.Place(id, /*may_preempt=*/false, /*explain=*/false);
    budgets_.Return(pod);
    const bool lands = landing.node != cluster::kNoNode && landing.node != from;
    if (lands) Move(*pod.shape, from, landing.node);
    if (!lands || excess_.Total() >= before) {
      if (lands) Move(*pod.shape, landing.node, from);
      mover_.Forget();
      return false;
    }
    trial.Commit();
    mover_.Keep();
    Note(pod, from, landing);
    return true;
  }

  void Move(const cluster::PodShape& shape, cluster::NodeIndex from, cluster::NodeIndex to) {
    excess_.Count(shape, from, -1);
    excess_.Count(shape, to, 1);
  }

  void Note(const cluster::Pod& pod, cluster::NodeIndex from, const Landing& landing) {
    local_data_ += inventory_.Facts(pod).local_data ? 1 : 0;
    Step step = StepOf(inventory_, pod);
    step.outcome = "Moves";
    step.from = cluster_.NodeName(from);
    step.to = cluster_.NodeName(landing.node);
    step.equal_nodes = static_cast<int64_t>(landing.equal_nodes);
    step.equal = landing.equal;
    AddStep(plan_, std::move(step));
  }

  Inventory& inventory_;
  cluster::Cluster& cluster_;
  Mover& mover_;
  const RestoreSpreadOptions& options_;
  Budgets budgets_;
  const Gangs gangs_;
  SpreadExcess excess_;
  Plan plan_;
  size_t trials_ = 0;
  int64_t local_data_ = 0;
};

}  // namespace

Plan PlanRestoreSpread(Inventory& inventory, Mover& mover, const RestoreSpreadOptions& options) {
  return Restoration(inventory, mover, options).Run();
}

}  // namespace berth::plan

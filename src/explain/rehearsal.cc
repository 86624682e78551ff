#include "explain/rehearsal.h"

#include "cluster/transaction.h"
#include "explain/explainer.h"
#include "framework/runtime/post_filter.h"

namespace berth::explain {
namespace {

constexpr size_t kExamples = 5;

}  // namespace

TrialResult Rehearsal::Run(const Trial& trial) {
  if (trial.edit) {
    for (const Workload::Member& member : workload_.members) {
      api::Pod changed = member.pod;
      trial.edit(changed);
      cluster_.UpdatePod(member.id, changed);
    }
  }
  TrialResult result;
  {
    const cluster::Transaction transaction(cluster_);
    if (trial.edit) {
      for (const Workload::Member& member : workload_.members) {
        if (member.placed) cluster_.Forget(member.id);
      }
    }
    for (const cluster::PodId pod : trial.moved) cluster_.Forget(pod);
    algorithm_ = scheduler::Algorithm({});
    result = Place(trial);
    Unreserve();
  }
  if (trial.edit) {
    for (const Workload::Member& member : workload_.members) {
      cluster_.UpdatePod(member.id, member.pod);
    }
  }
  return result;
}

TrialResult Rehearsal::Place(const Trial& trial) {
  TrialResult result;
  if (Exhausted()) return result;
  const cluster::PodId first = workload_.pod().id;
  work_ += static_cast<int64_t>(cluster_.Rows());
  search_.Run(cluster_.GetPod(first), /*score=*/false);
  result.nodes = search_.error().empty() ? static_cast<int64_t>(search_.feasible_count()) : 0;
  search_.feasible().ForEach([&](cluster::NodeIndex n) {
    if (result.examples.size() < kExamples) result.examples.push_back(cluster_.NodeName(n));
  });
  if (result.nodes == 0) {
    Describe(&result);
    if (!trial.evict || !search_.error().empty()) return result;
    result.preemption = ViewPreemption(search_, cluster_);
    if (result.preemption.candidates.empty()) return result;
  }
  result.fits = true;
  if (trial.first_only) return result;
  if (workload_.single() && !trial.evict && trial.moved.empty()) return result;
  for (const Workload::Member& member : workload_.members) {
    if (member.placed && !trial.edit) continue;
    if (Exhausted() || !Schedule(member.id, trial.evict, &result.victims)) {
      result.fits = false;
      search_.Run(cluster_.GetPod(member.id), /*score=*/false);
      Describe(&result);
      return result;
    }
    ++result.placed;
  }
  // Making others homeless is no help.
  std::vector<cluster::PodId> displaced = result.victims;
  displaced.insert(displaced.end(), trial.moved.begin(), trial.moved.end());
  for (const cluster::PodId pod : displaced) {
    result.fits = result.fits && Schedule(pod, /*evict=*/false, nullptr);
  }
  return result;
}

void Rehearsal::Describe(TrialResult* result) const {
  result->message = search_.Message();
  search_.diagnosis().rejected.ForEach([&](cluster::NodeIndex n) {
    const uint8_t plugin = search_.cycle().verdicts()[n].plugin;
    if (plugin != framework::kNoPlugin) {
      result->rejected_by.emplace(search_.profile().At(plugin).Name());
    }
  });
}

bool Rehearsal::Schedule(cluster::PodId pod, bool evict, std::vector<cluster::PodId>* victims) {
  for (bool again = false;; again = true) {
    attempt_.Begin(cycle_, cluster_, pod);
    attempt_.Decide(algorithm_);
    const scheduler::Decision& decision = attempt_.decision();
    // A class answers without looking at every node.
    const auto rows = static_cast<int64_t>(cluster_.Rows());
    work_ += decision.from_class ? rows / 64 + 16 : rows;
    if (decision.outcome == scheduler::Outcome::kScheduled) break;
    if (again || !evict || decision.outcome != scheduler::Outcome::kUnschedulable) return false;
    if (!Evict(pod, victims)) return false;
  }
  const cluster::NodeIndex node = attempt_.decision().node;
  if (!attempt_.Reserve(node).Ok()) {
    attempt_.Rollback();
    return false;
  }
  placed_.emplace_back(pod, node);
  return true;
}

bool Rehearsal::Evict(cluster::PodId pod, std::vector<cluster::PodId>* victims) {
  if (cycle_.profile().post_filter.empty()) return false;
  framework::PostFilterResult proposal;
  const framework::Status status =
      framework::RunPostFilter(cycle_, cluster_, attempt_.decision().diagnosis, &proposal);
  if (!status.Ok() || proposal.nomination != framework::PostFilterResult::Nomination::kSet) {
    return false;
  }
  for (const cluster::PodId victim : proposal.victims) cluster_.Forget(victim);
  victims->insert(victims->end(), proposal.victims.begin(), proposal.victims.end());
  cluster_.MutableNominations().Set(pod, cluster_.Strings().Intern(proposal.nominated_node));
  return true;
}

// Plugins forget what they reserved; the transaction undoes the rest.
void Rehearsal::Unreserve() {
  for (auto it = placed_.rbegin(); it != placed_.rend(); ++it) {
    const cluster::Pod& pod = cluster_.GetPod(it->first);
    const framework::CycleContext context{cluster_, pod, *pod.shape};
    scheduler::RunUnreserve(cycle_.profile(), context, it->second, [](uint8_t) {});
  }
  placed_.clear();
}

}  // namespace berth::explain

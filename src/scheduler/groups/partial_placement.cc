#include "scheduler/groups/partial_placement.h"

#include "cluster/transaction.h"
#include "framework/runtime/diagnosis.h"

namespace berth::scheduler {

PartialPlacement PlaceMost(framework::Cycle& cycle, cluster::Cluster& cluster, Algorithm& algorithm,
                           std::span<const cluster::PodId> pods, const framework::NodeSet* within) {
  PartialPlacement result;
  result.members.reserve(pods.size());
  cluster::Transaction trial(cluster);
  for (const cluster::PodId pod : pods) cluster.MutableNominations().Clear(pod);
  Attempt attempt;
  for (const cluster::PodId pod : pods) {
    PartialPlacement::Member& member = result.members.emplace_back();
    member.pod = pod;
    attempt.Begin(cycle, cluster, pod);
    attempt.Decide(algorithm, /*score_always=*/false, within);
    const Decision& decision = attempt.decision();
    if (decision.outcome == Outcome::kUnschedulable) {
      member.message = framework::FitErrorMessage(cycle, decision.diagnosis);
      member.plugins = decision.diagnosis.unschedulable_plugins;
      continue;
    }
    if (decision.outcome == Outcome::kError) {
      member.message = decision.error;
      continue;
    }
    const framework::Status reserved = attempt.Reserve(decision.node);
    if (!reserved.Ok()) {
      member.message = reserved.Message();
      attempt.Rollback();
      continue;
    }
    member.node = decision.node;
    ++result.placed;
  }
  // What plugins hold; the transaction rolls back the cluster.
  for (auto member = result.members.rbegin(); member != result.members.rend(); ++member) {
    if (member->node == cluster::kNoNode) continue;
    const cluster::Pod& pod = cluster.GetPod(member->pod);
    RunUnreserve(cycle.profile(), {cluster, pod, *pod.shape}, member->node, [](uint8_t) {});
  }
  return result;
}

}  // namespace berth::scheduler

#include "plan/gangs.h"

#include <algorithm>

#include <fmt/format.h>

namespace berth::plan {
namespace {

// Pods of the gang that have a node and are to keep it.
int64_t Placed(const cluster::Cluster& cluster, const Gang& gang) {
  return std::count_if(gang.pods.begin(), gang.pods.end(), [&](cluster::PodId id) {
    const cluster::Pod& pod = cluster.GetPod(id);
    return pod.node != cluster::kNoNode && !pod.terminating;
  });
}

}  // namespace

bool Gangs::MayLeave(const cluster::Pod& pod, std::string* why) const {
  const Gang* gang = inventory_.GangOf(pod);
  if (gang == nullptr) return true;
  const int64_t placed = Placed(inventory_.cluster(), *gang);
  // A gang that has fallen apart already loses nothing by one pod less.
  if (placed < gang->min || placed - 1 >= gang->min) return true;
  *why = fmt::format("pod group {} needs {} pods and has {}", gang->name, gang->min, placed);
  return false;
}

void Gangs::Withdraw(Mover& mover, const std::vector<cluster::PodId>& steps, Plan* plan) const {
  const cluster::Cluster& cluster = inventory_.cluster();
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& step = plan->pods[i];
    const cluster::Pod& pod = cluster.GetPod(steps[i]);
    const Gang* gang = inventory_.GangOf(pod);
    if (gang == nullptr || step.to.empty() || pod.node == cluster::kNoNode) continue;
    const int64_t placed = Placed(cluster, *gang);
    if (placed >= gang->min) continue;
    for (size_t j = i; j < steps.size(); ++j) {
      Step& other = plan->pods[j];
      const cluster::Pod& member = cluster.GetPod(steps[j]);
      if (inventory_.GangOf(member) != gang || other.to.empty()) continue;
      if (member.node == cluster::kNoNode) continue;
      (other.outcome == "Starts" ? plan->starts : plan->moves) -= 1;
      plan->homeless += 1;
      other.outcome = "Homeless";
      other.to.clear();
      other.equal_nodes = 0;
      other.equal.clear();
      other.message =
          fmt::format("pod group {} needs {} pods; {} have a place", gang->name, gang->min, placed);
      mover.Evict(steps[j]);
    }
  }
}

}  // namespace berth::plan

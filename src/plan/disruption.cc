#include "plan/disruption.h"

#include <algorithm>
#include <string>

namespace berth::plan {
namespace {

constexpr int64_t kForbidden = 1'000'000;
constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
constexpr int64_t kMostDays = 5;

}  // namespace

DisruptionCost::DisruptionCost(const Inventory& inventory, bool lose_local_data)
    : inventory_(inventory),
      lose_local_data_(lose_local_data),
      budgets_(inventory.cluster()),
      gangs_(inventory) {
  const cluster::Cluster& cluster = inventory.cluster();
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const api::Time& created = cluster.GetPod(id).creation_timestamp;
    if (!created.IsZero()) newest_ns_ = std::max(newest_ns_, created.UnixNano());
  }
}

int64_t DisruptionCost::OfPod(const cluster::Pod& pod) {
  const PodFacts& facts = inventory_.Facts(pod);
  if (facts.fate == Fate::kStays || pod.terminating) return 0;
  std::string why;
  bool none_left = false;
  const bool covered = budgets_.Covers(pod, &none_left);
  if (facts.fate == Fate::kLost || !facts.protected_by.empty() || none_left ||
      (facts.local_blocks && !lose_local_data_) || !gangs_.MayLeave(pod, &why)) {
    return kForbidden;
  }
  int64_t cost = 10 + std::clamp(facts.deletion_cost, -9, 1000);
  if (pod.shape->priority > 0) cost += 10;
  if (covered) cost += 5;
  if (!pod.creation_timestamp.IsZero()) {
    cost += std::min(kMostDays, (newest_ns_ - pod.creation_timestamp.UnixNano()) / kDayNs);
  }
  return cost;
}

int64_t DisruptionCost::Of(cluster::NodeIndex node) {
  const cluster::Cluster& cluster = inventory_.cluster();
  int64_t sum = inventory_.ProtectionOf(cluster.NodeName(node)).empty() ? 0 : kForbidden;
  for (const cluster::PodId id : cluster.Record(node).pods) sum += OfPod(cluster.GetPod(id));
  return sum;
}

bool DisruptionCost::MayGo(cluster::NodeIndex node) {
  const cluster::Cluster& cluster = inventory_.cluster();
  const auto& pods = cluster.Record(node).pods;
  return inventory_.ProtectionOf(cluster.NodeName(node)).empty() &&
         std::none_of(pods.begin(), pods.end(),
                      [&](cluster::PodId id) { return OfPod(cluster.GetPod(id)) >= kForbidden; });
}

}  // namespace berth::plan

#include "history/pool_use.h"

#include <algorithm>

#include "plan/pools.h"

namespace berth::history {
namespace {

constexpr double kHour = 3600.0 * 1e9;

bool IsOnEveryNode(const api::Pod& pod) {
  return api::FindValue(pod.metadata.annotations, "kubernetes.io/config.mirror") != nullptr ||
         std::any_of(pod.metadata.owner_references.begin(), pod.metadata.owner_references.end(),
                     [](const api::OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

}  // namespace

const api::TypeInfo& PoolCost::Type() {
  static const api::TypeInfo type = api::Describe<PoolCost>("PoolCost")
                                        .Always(0, "pool", &PoolCost::pool)
                                        .Always(0, "nodeHours", &PoolCost::node_hours)
                                        .Always(0, "usedNodeHours", &PoolCost::used_node_hours)
                                        .Always(0, "cost", &PoolCost::cost)
                                        .Always(0, "idleCost", &PoolCost::idle_cost)
                                        .Always(0, "priced", &PoolCost::priced)
                                        .Build();
  return type;
}

PoolUse::PoolUse(sim::EventLoop& loop, sim::ModelApi& api, const plan::PriceList& prices)
    : loop_(loop), prices_(prices) {
  api.Subscribe([this](const sim::ApiChange& change) { OnChange(change); });
}

std::vector<PoolCost> PoolUse::Costs() {
  std::vector<PoolCost> costs;
  for (auto& [name, pool] : pools_) {
    Advance(pool);
    costs.push_back(pool.sum);
    costs.back().pool = name;
  }
  return costs;
}

void PoolUse::OnChange(const sim::ApiChange& change) {
  const bool gone = change.type == sim::ApiChange::Type::kDeleted;
  if (const auto* node = std::get_if<api::Node>(change.object.get())) {
    OnNode(*node, gone);
  } else if (const auto* pod = std::get_if<api::Pod>(change.object.get())) {
    OnPod(*pod, gone);
  }
}

void PoolUse::OnNode(const api::Node& object, bool gone) {
  Node& node = nodes_[object.metadata.name];
  if (node.exists) Count(node, -1);
  node.exists = !gone;
  if (gone) return;
  node.pool = plan::PoolOf(object);
  const auto hourly = prices_.Hourly(object);
  node.hourly = hourly.value_or(0);
  Count(node, 1);
  if (!hourly) pools_[node.pool].sum.priced = false;
}

void PoolUse::OnPod(const api::Pod& pod, bool gone) {
  if (pod.spec.node_name.empty() || IsOnEveryNode(pod)) return;
  Node& node = nodes_[pod.spec.node_name];
  if (gone != node.pods.contains(pod.metadata.uid)) return;  // known already
  if (node.exists) Count(node, -1);
  if (gone) {
    node.pods.erase(pod.metadata.uid);
  } else {
    node.pods.insert(pod.metadata.uid);
  }
  if (node.exists) Count(node, 1);
}

void PoolUse::Advance(Pool& pool) {
  const double hours = static_cast<double>(loop_.Now() - pool.since) / kHour;
  pool.since = loop_.Now();
  pool.sum.node_hours += hours * static_cast<double>(pool.nodes);
  pool.sum.used_node_hours += hours * static_cast<double>(pool.used);
  pool.sum.cost += hours * pool.hourly;
  pool.sum.idle_cost += hours * std::max(0.0, pool.hourly - pool.used_hourly);
}

void PoolUse::Count(const Node& node, int64_t by) {
  Pool& pool = pools_[node.pool];
  Advance(pool);
  const auto sign = static_cast<double>(by);
  pool.nodes += by;
  pool.hourly += sign * node.hourly;
  if (node.pods.empty()) return;
  pool.used += by;
  pool.used_hourly += sign * node.hourly;
}

}  // namespace berth::history

#include "plan/node_map.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/string_hash.h"
#include "plan/pools.h"

namespace berth::plan {
namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

double Percent(const cluster::Cluster& cluster, cluster::NodeIndex row) {
  double fullest = 0;
  for (const cluster::ResourceId id : {cluster::kCpu, cluster::kMemory}) {
    const cluster::ResourceColumn* column = cluster.Resource(id);
    if (column == nullptr || column->allocatable[row] <= 0) continue;
    fullest = std::max(fullest, 100.0 * static_cast<double>(column->requested[row]) /
                                    static_cast<double>(column->allocatable[row]));
  }
  return fullest;
}

NodeUse UseOf(const api::Node& node, const PriceList& prices) {
  NodeUse use;
  use.name = node.metadata.name;
  use.pool = PoolOf(node);
  if (const std::string* zone = api::FindValue(node.metadata.labels, kZone)) use.zone = *zone;
  use.hourly = prices.Hourly(node);
  return use;
}

bool IsGone(const NodeUse& node) { return node.change == "Freed" || node.change == "Lost"; }

}  // namespace

const api::TypeInfo& NodeUse::Type() {
  static const api::TypeInfo type = api::Describe<NodeUse>("NodeUse")
                                        .Always(1, "name", &NodeUse::name)
                                        .Field(2, "pool", &NodeUse::pool)
                                        .Field(3, "zone", &NodeUse::zone)
                                        .Always(4, "percentBefore", &NodeUse::before)
                                        .Always(5, "percentAfter", &NodeUse::after)
                                        .Always(6, "podsBefore", &NodeUse::pods_before)
                                        .Always(7, "podsAfter", &NodeUse::pods_after)
                                        .Field(8, "change", &NodeUse::change)
                                        .Field(9, "hourly", &NodeUse::hourly)
                                        .Build();
  return type;
}

const api::TypeInfo& MappedPlan::Type() {
  static const api::TypeInfo type = api::Describe<MappedPlan>("MappedPlan")
                                        .Always(1, "plan", &MappedPlan::plan)
                                        .Always(2, "nodes", &MappedPlan::nodes)
                                        .Build();
  return type;
}

NodeMap::NodeMap(const Inventory& inventory, const PriceList& prices) : prices_(prices) {
  const cluster::Cluster& cluster = inventory.cluster();
  for (const std::string& name : inventory.Select(api::Selector())) {
    NodeUse use = UseOf(*inventory.FindNode(name), prices);
    const cluster::NodeIndex row = cluster.FindNode(name);
    use.before = Percent(cluster, row);
    use.pods_before = static_cast<int64_t>(cluster.Record(row).pods.size());
    nodes_.push_back(std::move(use));
  }
}

void NodeMap::Finish(const Inventory& inventory, Plan* plan) {
  ByString<std::string> changes;
  for (const NodeStep& step : plan->nodes) {
    changes.insert_or_assign(step.name, step.change);
    // A node that was added may be gone again, with the node it was for.
    const api::Node* node = inventory.FindNode(step.name);
    if (step.change == "Added" && node != nullptr) nodes_.push_back(UseOf(*node, prices_));
  }
  const cluster::Cluster& cluster = inventory.cluster();
  for (NodeUse& use : nodes_) {
    if (const auto change = changes.find(use.name); change != changes.end()) {
      use.change = change->second;
    }
    const cluster::NodeIndex row = cluster.FindNode(use.name);
    if (row == cluster::kNoNode || use.change == "Lost") continue;
    use.after = Percent(cluster, row);
    use.pods_after = static_cast<int64_t>(cluster.Record(row).pods.size());
  }
  std::sort(nodes_.begin(), nodes_.end(), [](const NodeUse& a, const NodeUse& b) {
    return std::tie(a.pool, a.zone, a.name) < std::tie(b.pool, b.zone, b.name);
  });
  if (!prices_.Empty()) Price(plan);
}

void NodeMap::Price(Plan* plan) const {
  double before = 0;
  double after = 0;
  int64_t unpriced = 0;
  for (const NodeUse& node : nodes_) {
    if (!node.hourly) {
      ++unpriced;
      continue;
    }
    if (node.change != "Added") before += *node.hourly;
    if (!IsGone(node)) after += *node.hourly;
  }
  plan->hourly_before = before;
  plan->hourly_after = after;
  if (unpriced > 0) {
    plan->warnings.push_back(fmt::format("{} nodes have no price and count as free", unpriced));
  }
}

}  // namespace berth::plan

// NodeMap: how full each node is before and after a plan, and what it costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/inventory.h"
#include "plan/plan.h"
#include "plan/prices.h"

namespace berth::plan {

struct NodeUse {
  std::string name;
  std::string pool;
  std::string zone;
  // What is requested of cpu or memory, whichever is more, in percent of what can be allocated.
  double before = 0;
  double after = 0;
  int64_t pods_before = 0;
  int64_t pods_after = 0;
  std::string change;            // as of NodeStep; empty: none
  std::optional<double> hourly;  // price

  static const api::TypeInfo& Type();
};

// A plan with the map of its nodes: what the explain API answers.
struct MappedPlan {
  Plan plan;
  std::vector<NodeUse> nodes;

  static const api::TypeInfo& Type();
};

class NodeMap {
 public:
  // The cluster as it is, before the plan is made.
  NodeMap(const Inventory& inventory, const PriceList& prices);
  // The cluster as the plan leaves it. With prices, the plan says what the nodes cost.
  void Finish(const Inventory& inventory, Plan* plan);

  // By pool, zone and name.
  const std::vector<NodeUse>& Nodes() const { return nodes_; }

 private:
  void Price(Plan* plan) const;

  const PriceList& prices_;
  std::vector<NodeUse> nodes_;
};

}  // namespace berth::plan

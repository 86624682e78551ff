// PoolUse: what the nodes of each pool were used for, and what they cost, over the time of a rerun.
//
// Watches a model API server. A node is in use while a pod is on it that would not be there on
// every node: DaemonSets and static pods do not count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "plan/prices.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::history {

// One pool over the whole time. Costs are 0 without prices.
struct PoolCost {
  std::string pool;  // "" for nodes without one
  double node_hours = 0;
  double used_node_hours = 0;  // of nodes in use
  double cost = 0;             // of all nodes
  double idle_cost = 0;        // of nodes that were not in use
  bool priced = true;          // false: a node of it has no price, and is counted as free
  static const api::TypeInfo& Type();
};

class PoolUse {
 public:
  // All outlive it. Time counts from now on.
  PoolUse(sim::EventLoop& loop, sim::ModelApi& api, const plan::PriceList& prices);
  PoolUse(const PoolUse&) = delete;
  PoolUse& operator=(const PoolUse&) = delete;

  // Up to now, sorted by pool.
  std::vector<PoolCost> Costs();

 private:
  struct Node {
    bool exists = false;
    std::string pool;
    double hourly = 0;
    std::set<std::string> pods;  // by uid, those that count
  };
  struct Pool {
    int64_t nodes = 0;
    int64_t used = 0;
    double hourly = 0;
    double used_hourly = 0;
    sim::Nanos since = 0;
    PoolCost sum;
  };

  void OnChange(const sim::ApiChange& change);
  void OnNode(const api::Node& node, bool gone);
  void OnPod(const api::Pod& pod, bool gone);
  // Counts the time that has passed.
  void Advance(Pool& pool);
  // Adds the node to its pool, or takes it away.
  void Count(const Node& node, int64_t by);

  sim::EventLoop& loop_;
  const plan::PriceList& prices_;
  std::map<std::string, Node, std::less<>> nodes_;  // by name; those with pods alone, too
  std::map<std::string, Pool, std::less<>> pools_;
};

}  // namespace berth::history

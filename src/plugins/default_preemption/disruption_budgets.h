// DisruptionBudgets: which victims would break a PodDisruptionBudget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/policy/pod_disruption_budget.h"
#include "api/rules/label_selector.h"
#include "cluster/cluster.h"
#include "plugins/default_preemption/disruption_unit.h"

namespace berth::plugins::default_preemption {

class DisruptionBudgets {
 public:
  // `stop_at_first`: a pod beyond a budget does not use up those that follow.
  explicit DisruptionBudgets(bool stop_at_first = false) : stop_at_first_(stop_at_first) {}

  // Takes up the budgets of the cluster if they have changed.
  void Refresh(const cluster::Cluster& cluster);
  // Changes with them.
  uint64_t Generation() const { return generation_; }

  // Splits `units` (most important first) into those with a pod beyond some budget and the others,
  // both in order. Each pod uses up one disruption of every budget that covers it.
  struct Violation {
    DisruptionUnit unit;
    int64_t pods = 0;  // that are beyond a budget
  };
  void Split(const cluster::Cluster& cluster, std::vector<DisruptionUnit> units,
             std::vector<Violation>* violating, std::vector<DisruptionUnit>* others) const;

 private:
  struct Budget {
    std::string namespace_;
    api::Selector selector;
    std::vector<std::string> disrupted;  // names the API server has counted already, sorted
    int32_t allowed = 0;
  };

  const bool stop_at_first_;
  std::vector<Budget> budgets_;
  uint64_t generation_ = UINT64_MAX;
};

}  // namespace berth::plugins::default_preemption

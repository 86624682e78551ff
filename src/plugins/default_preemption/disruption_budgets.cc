#include "plugins/default_preemption/disruption_budgets.h"

#include <algorithm>
#include <utility>

#include "cluster/objects/object_store.h"

namespace berth::plugins::default_preemption {

void DisruptionBudgets::Refresh(const cluster::Cluster& cluster) {
  const auto& store = cluster.Objects().pod_disruption_budgets;
  if (store.Generation() == generation_) return;
  generation_ = store.Generation();
  budgets_.clear();
  store.ForEach([&](const api::PodDisruptionBudget& pdb) {
    auto selector = api::Selector::From(pdb.spec.selector);
    // One that does not parse, or that is empty or absent, covers no pod.
    if (!selector || selector->Empty() || selector->MatchesNothing()) return;
    Budget budget{
        pdb.metadata.namespace_, std::move(*selector), {}, pdb.status.disruptions_allowed};
    for (const auto& [name, time] : pdb.status.disrupted_pods) budget.disrupted.push_back(name);
    std::sort(budget.disrupted.begin(), budget.disrupted.end());
    budgets_.push_back(std::move(budget));
  });
}

void DisruptionBudgets::Split(const cluster::Cluster& cluster, std::vector<DisruptionUnit> units,
                              std::vector<Violation>* violating,
                              std::vector<DisruptionUnit>* others) const {
  std::vector<int64_t> allowed;
  for (const Budget& budget : budgets_) allowed.push_back(budget.allowed);
  const auto violates = [&](const cluster::Pod& pod) {
    const api::StringMap& labels = pod.shape->source.metadata.labels;
    bool beyond = false;
    for (size_t i = 0; i < budgets_.size() && !labels.empty(); ++i) {
      const Budget& budget = budgets_[i];
      if (budget.namespace_ != pod.namespace_() || !budget.selector.Matches(labels)) continue;
      if (std::binary_search(budget.disrupted.begin(), budget.disrupted.end(), pod.name)) continue;
      beyond = --allowed[i] < 0 || beyond;
      if (beyond && stop_at_first_) break;
    }
    return beyond;
  };
  for (DisruptionUnit& unit : units) {
    int64_t pods = 0;
    for (const cluster::PodId id : unit.pods) pods += violates(cluster.GetPod(id)) ? 1 : 0;
    if (pods > 0) {
      violating->push_back({std::move(unit), pods});
    } else {
      others->push_back(std::move(unit));
    }
  }
}

}  // namespace berth::plugins::default_preemption

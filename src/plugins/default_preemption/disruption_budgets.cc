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

void DisruptionBudgets::Split(const cluster::Cluster& cluster,
                              const std::vector<cluster::PodId>& pods,
                              std::vector<cluster::PodId>* violating,
                              std::vector<cluster::PodId>* others) const {
  std::vector<int64_t> allowed;
  for (const Budget& budget : budgets_) allowed.push_back(budget.allowed);
  for (const cluster::PodId id : pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    const api::StringMap& labels = pod.shape->source.metadata.labels;
    bool violates = false;
    for (size_t i = 0; i < budgets_.size() && !labels.empty(); ++i) {
      const Budget& budget = budgets_[i];
      if (budget.namespace_ != pod.namespace_() || !budget.selector.Matches(labels)) continue;
      if (std::binary_search(budget.disrupted.begin(), budget.disrupted.end(), pod.name)) continue;
      violates = --allowed[i] < 0 || violates;
      if (violates && stop_at_first_) break;
    }
    (violates ? violating : others)->push_back(id);
  }
}

}  // namespace berth::plugins::default_preemption

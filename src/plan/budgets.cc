#include "plan/budgets.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cluster/objects/object_store.h"

namespace berth::plan {
namespace {

// A number, or a percentage of `total` rounded up, as the disruption controller reads it.
int32_t Scaled(const api::IntOrString& value, int32_t total) {
  if (!value.is_string) return value.int_value;
  int64_t percent = 0;
  const char* begin = value.string_value.data();
  std::from_chars(begin, begin + value.string_value.size(), percent);
  percent = std::clamp<int64_t>(percent, 0, 100);
  return static_cast<int32_t>((percent * total + 99) / 100);
}

// Counts what the disruption controller would have written into the status.
void CountHealthy(const cluster::Cluster& cluster, const api::PodDisruptionBudget& object,
                  Budget* budget) {
  int32_t expected = 0;
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.namespace_() != budget->namespace_) continue;
    if (!budget->selector.Matches(pod.shape->source.metadata.labels)) continue;
    ++expected;
    if (pod.node != cluster::kNoNode && !pod.terminating) ++budget->healthy;
  }
  if (object.spec.min_available) {
    budget->desired = Scaled(*object.spec.min_available, expected);
  } else if (object.spec.max_unavailable) {
    budget->desired = std::max(0, expected - Scaled(*object.spec.max_unavailable, expected));
  }
  budget->allowed = std::max(0, budget->healthy - budget->desired);
}

bool HasStatus(const api::PodDisruptionBudget& object) {
  return object.status.observed_generation > 0 || object.status.expected_pods > 0 ||
         object.status.disruptions_allowed > 0;
}

}  // namespace

Budgets::Budgets(const cluster::Cluster& cluster) {
  cluster.Objects().pod_disruption_budgets.ForEach([&](const api::PodDisruptionBudget& object) {
    auto selector = api::Selector::From(object.spec.selector);
    if (!selector) return;  // covers nothing
    Budget budget;
    budget.namespace_ = object.metadata.namespace_;
    budget.name = object.metadata.name;
    budget.selector = std::move(*selector);
    if (HasStatus(object)) {
      budget.allowed = object.status.disruptions_allowed;
      budget.healthy = object.status.current_healthy;
      budget.desired = object.status.desired_healthy;
    } else {
      CountHealthy(cluster, object, &budget);
    }
    budgets_.push_back(std::move(budget));
  });
  for (uint32_t i = 0; i < budgets_.size(); ++i) {
    first_.push_back(budgets_[i].allowed);
    of_namespace_[budgets_[i].namespace_].push_back(i);
  }
}

const std::vector<uint32_t>& Budgets::Covering(const cluster::Pod& pod) {
  const auto [it, is_new] = covering_.try_emplace(pod.shape->serial);
  if (!is_new) return it->second;
  const auto in_namespace = of_namespace_.find(pod.namespace_());
  if (in_namespace == of_namespace_.end()) return it->second;
  for (const uint32_t i : in_namespace->second) {
    if (budgets_[i].selector.Matches(pod.shape->source.metadata.labels)) it->second.push_back(i);
  }
  return it->second;
}

bool Budgets::Covers(const cluster::Pod& pod, bool* none_left) {
  for (const uint32_t i : Covering(pod)) *none_left |= budgets_[i].allowed <= 0;
  return !Covering(pod).empty();
}

bool Budgets::Take(const cluster::Pod& pod, std::string* why) {
  const std::vector<uint32_t>& covering = Covering(pod);
  if (covering.empty()) return true;
  if (covering.size() > 1) {
    for (const uint32_t i : covering) ++budgets_[i].refused;
    *why = fmt::format(
        "PodDisruptionBudgets {} and {} both cover the pod, and the eviction API refuses that; "
        "leave one of them",
        budgets_[covering[0]].name, budgets_[covering[1]].name);
    return false;
  }
  Budget& budget = budgets_[covering.front()];
  if (budget.allowed > 0) {
    --budget.allowed;
    return true;
  }
  ++budget.refused;
  *why = fmt::format(
      "PodDisruptionBudget {} allows no disruption: {} of {} required pods healthy; "
      "one more healthy pod would allow it",
      budget.name, budget.healthy, budget.desired);
  return false;
}

void Budgets::Return(const cluster::Pod& pod) {
  for (const uint32_t i : Covering(pod)) ++budgets_[i].allowed;
}

void Budgets::Reset() {
  for (size_t i = 0; i < budgets_.size(); ++i) {
    budgets_[i].allowed = first_[i];
    budgets_[i].refused = 0;
  }
}

}  // namespace berth::plan

#include "api/policy/pod_disruption_budget.h"

namespace berth::api {

const TypeInfo& PodDisruptionBudgetSpec::Type() {
  static const TypeInfo type =
      Describe<PodDisruptionBudgetSpec>("PodDisruptionBudgetSpec")
          .Field(1, "minAvailable", &PodDisruptionBudgetSpec::min_available)
          .Field(2, "selector", &PodDisruptionBudgetSpec::selector)
          .Field(3, "maxUnavailable", &PodDisruptionBudgetSpec::max_unavailable)
          .Field(4, "unhealthyPodEvictionPolicy",
                 &PodDisruptionBudgetSpec::unhealthy_pod_eviction_policy)
          .Build();
  return type;
}

const TypeInfo& PodDisruptionBudgetStatus::Type() {
  static const TypeInfo type =
      Describe<PodDisruptionBudgetStatus>("PodDisruptionBudgetStatus")
          .Field(1, "observedGeneration", &PodDisruptionBudgetStatus::observed_generation)
          .Field(2, "disruptedPods", &PodDisruptionBudgetStatus::disrupted_pods)
          .Always(3, "disruptionsAllowed", &PodDisruptionBudgetStatus::disruptions_allowed)
          .Always(4, "currentHealthy", &PodDisruptionBudgetStatus::current_healthy)
          .Always(5, "desiredHealthy", &PodDisruptionBudgetStatus::desired_healthy)
          .Always(6, "expectedPods", &PodDisruptionBudgetStatus::expected_pods)
          .Field(7, "conditions", &PodDisruptionBudgetStatus::conditions)
          .Build();
  return type;
}

const TypeInfo& PodDisruptionBudget::Type() {
  static const TypeInfo type = Describe<PodDisruptionBudget>("PodDisruptionBudget")
                                   .Always(1, "metadata", &PodDisruptionBudget::metadata)
                                   .Always(2, "spec", &PodDisruptionBudget::spec)
                                   .Always(3, "status", &PodDisruptionBudget::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api

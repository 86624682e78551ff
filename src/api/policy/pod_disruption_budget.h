// PodDisruptionBudget: how many pods of a set may be evicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/time.h"
#include "api/values.h"

namespace berth::api {

// Which pods, and how many must stay.
struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  std::optional<LabelSelector> selector;
  std::optional<IntOrString> max_unavailable;
  std::optional<std::string> unhealthy_pod_eviction_policy;

  bool operator==(const PodDisruptionBudgetSpec&) const = default;
  static const TypeInfo& Type();
};

// How many evictions are allowed now, and which are under way.
struct PodDisruptionBudgetStatus {
  int64_t observed_generation = 0;
  Map<Time> disrupted_pods;
  int32_t disruptions_allowed = 0;
  int32_t current_healthy = 0;
  int32_t desired_healthy = 0;
  int32_t expected_pods = 0;
  std::vector<Condition> conditions;

  bool operator==(const PodDisruptionBudgetStatus&) const = default;
  static const TypeInfo& Type();
};

// Limits voluntary evictions.
struct PodDisruptionBudget {
  static constexpr std::string_view kApiVersion = "policy/v1";
  static constexpr std::string_view kKind = "PodDisruptionBudget";

  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  bool operator==(const PodDisruptionBudget&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

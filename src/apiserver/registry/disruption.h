// Disruption budgets: what they allow, and conditions of pods they look at.
#pragma once

#include <string_view>

#include "api/time.h"
#include "apiserver/json/value.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/object.h"

namespace berth::apiserver {

struct BudgetState {
  int64_t expected_pods = 0;
  int64_t current_healthy = 0;
  int64_t desired_healthy = 0;
  int64_t disruptions_allowed = 0;
};

// Counts the pods of the budget's namespace it selects. Pods that are being deleted are not
// healthy.
BudgetState CountBudget(Registry& registry, const Json& budget);
bool BudgetMatches(const Json& budget, const StoredObject& pod);

// Whether the condition Ready is True.
bool PodReady(const Json& pod);

// Adds or replaces the condition of that type; its transition time stays while its status does.
void SetCondition(Json& status, Json condition, const api::Time& now);
// The same with the time as text.
void SetCondition(Json& status, Json condition, std::string_view now);

}  // namespace berth::apiserver

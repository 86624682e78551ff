#include "scheduler/engine/pod_table.h"

#include <algorithm>

namespace berth::scheduler {

uint16_t PodTable::NumberConditionTypes(const api::Pod& pod) {
  constexpr size_t kMaxConditionLists = 256;  // searched one by one
  const auto& conditions = pod.status.conditions;
  for (size_t i = 0; i < condition_types.size(); ++i) {
    const auto same = [](const std::string& type, const api::PodCondition& condition) {
      return type == condition.type;
    };
    if (std::equal(condition_types[i].begin(), condition_types[i].end(), conditions.begin(),
                   conditions.end(), same)) {
      return static_cast<uint16_t>(i);
    }
  }
  if (condition_types.size() >= kMaxConditionLists) return 0;
  std::vector<std::string>& types = condition_types.emplace_back();
  for (const api::PodCondition& condition : conditions) types.push_back(condition.type);
  return static_cast<uint16_t>(condition_types.size() - 1);
}

}  // namespace berth::scheduler

#include "plugins/preemption_toleration/toleration_policy.h"

#include <limits>

#include "api/go/go_int.h"
#include "api/meta.h"

namespace berth::plugins::preemption_toleration {

std::optional<TolerationPolicy> TolerationPolicy::Of(const api::PriorityClass& priority_class) {
  using Limits = std::numeric_limits<int32_t>;
  TolerationPolicy policy;
  policy.minimum_priority = static_cast<int32_t>(static_cast<uint32_t>(priority_class.value) + 1);
  const api::StringMap& annotations = priority_class.metadata.annotations;
  if (const std::string* text = api::FindValue(annotations, kMinimumPriority)) {
    const auto priority = api::ParseGoInt(*text);
    if (!priority || *priority < Limits::min() || *priority > Limits::max()) return std::nullopt;
    policy.minimum_priority = static_cast<int32_t>(*priority);
  }
  if (const std::string* text = api::FindValue(annotations, kTolerationSeconds)) {
    const auto seconds = api::ParseGoInt(*text);
    if (!seconds) return std::nullopt;
    policy.toleration_seconds = *seconds;
  }
  return policy;
}

}  // namespace berth::plugins::preemption_toleration

// What a PriorityClass says about the preemption of its pods.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/scheduling/priority_class.h"

namespace berth::plugins::preemption_toleration {

inline constexpr std::string_view kMinimumPriority =
    "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority";
inline constexpr std::string_view kTolerationSeconds =
    "preemption-toleration.scheduling.x-k8s.io/toleration-seconds";

struct TolerationPolicy {
  // Pods of this priority or higher preempt at any time. By default one more than that of the
  // class, which wraps around.
  int32_t minimum_priority = 0;
  // How long after it was scheduled a pod is spared by all others; below 0: for ever.
  int64_t toleration_seconds = 0;

  // Nothing when an annotation is no number: then nothing is tolerated.
  static std::optional<TolerationPolicy> Of(const api::PriorityClass& priority_class);
};

}  // namespace berth::plugins::preemption_toleration

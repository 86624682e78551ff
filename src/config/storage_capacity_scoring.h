// What the feature gate StorageCapacityScoring changes in a configuration: VolumeBinding's `shape`,
// which is refused without it, is checked, and given where it is missing. A plugin whose arguments
// hold a shape scores by it.
#pragma once

#include "config/config.h"

namespace berth::config {

// Validate() where the gate is on.
Result<void> ValidateWithScoring(const KubeSchedulerConfiguration& config,
                                 std::string_view api_version = kApiVersion);

// Nodes with much free capacity score high, unless a profile says otherwise.
void SetScoringDefaults(KubeSchedulerConfiguration& config);

}  // namespace berth::config

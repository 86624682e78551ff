// How the feature gates about devices reach the plugins: by the arguments of those that follow
// them.
#pragma once

#include "config/config.h"
#include "config/feature_gates.h"

namespace berth::config {

DraFeatures DraFeaturesOf(const FeatureGates& gates);

// Every profile's plugins follow `features`. REQUIRES: the configuration has its defaults.
void SetDraFeatures(const DraFeatures& features, KubeSchedulerConfiguration& config);

}  // namespace berth::config

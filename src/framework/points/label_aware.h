// What a plugin that reads the labels of the pod to be placed says so that pods with labels of
// their own can share what is known about nodes (framework/class_cache.h).
//
// Plugins that depend on less than everything must not look at the labels of that pod, unless they
// depend on kOnPodLabels. Then they are label-aware, or pods they concern share nothing with pods
// whose labels differ.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/points/plugin.h"

namespace berth::framework {

// A Dependency: the labels of the pod that is to be placed.
inline constexpr uint32_t kOnPodLabels = 1u << 7;

class LabelAwarePlugin : public ClassAwarePlugin {
 public:
  // Appends what the pod's labels make of premises and traits: pods that are equal in all but
  // labels and claims and that append the same have, where nothing else happens, the same premises
  // and on every node the same traits. Called after AppendPremises.
  virtual void AppendLabels(const CycleContext&, const PluginState*,
                            std::vector<int64_t>* out) const = 0;
};

}  // namespace berth::framework

// LabelAwarePlugin: lets pods with individual labels share a class
// (framework/classes/class_cache.h).
//
// A plugin that depends on less than everything must not read the labels of the pod to be placed,
// unless it depends on kOnPodLabels. If such a plugin is not label-aware, pods that it concerns do
// not share a class with pods whose labels differ.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/points/plugin.h"

namespace berth::framework {

// A Dependency: the labels of the pod that is to be placed.
inline constexpr uint32_t kOnPodLabels = 1u << 7;

class LabelAwarePlugin : public ClassAwarePlugin {
 public:
  // Appends the part of premises and traits that depends on the pod's labels. Pods that differ only
  // in labels and claims and append equal numbers have, in an unchanged cluster, equal premises and
  // equal traits on every node. Called after AppendPremises.
  virtual void AppendLabels(const CycleContext&, const PluginState*,
                            std::vector<int64_t>* out) const = 0;
};

}  // namespace berth::framework

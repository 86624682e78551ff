// The in-tree plugins: which extension points each implements, and the default configuration of a
// profile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/behaviour.h"
#include "config/types.h"

namespace berth::config {

// In the order the framework checks them.
enum class ExtensionPoint : uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kReserve,
  kPreScore,
  kScore,
  kPreBind,
  kBind,
  kPostBind,
  kPermit,
  kPreEnqueue,
  kQueueSort,
  // Of pod groups; not in every minor.
  kPlacementGenerate,
  kPlacementScore,
  kPodGroupPostFilter,
};
inline constexpr size_t kExtensionPointCount = 12;  // of pods
inline constexpr size_t kAllPointCount = 15;
constexpr size_t Index(ExtensionPoint point) { return static_cast<size_t>(point); }

// "preFilter": the field of Plugins. "PreFilterPlugin": the name in the framework's errors.
std::string_view FieldName(ExtensionPoint point);
std::string_view InterfaceName(ExtensionPoint point);
// What `plugins` says about the point; nothing, if it cannot.
const PluginSet& SetOf(const Plugins& plugins, ExtensionPoint point);
// REQUIRES: a point of pods.
PluginSet& SetOf(Plugins& plugins, ExtensionPoint point);
// The points this kube-scheduler has, in the order of ExtensionPoint.
std::vector<ExtensionPoint> PointsOf(const Behaviour& behaviour);

struct InTreePlugin {
  std::string_view name;
  int32_t default_weight;  // in the default MultiPoint list; 0: none given
  uint16_t points;         // a bit per ExtensionPoint
  bool inert = false;      // its gate is off: no default plugin, and never called
                           // where it is named

  constexpr bool Implements(ExtensionPoint point) const {
    return (points >> Index(point) & 1) != 0;
  }
};

// The in-tree plugins of this kube-scheduler.
std::vector<InTreePlugin> InTreePlugins(const Behaviour& behaviour);
// Whether `name` is that of an in-tree plugin, in any minor.
bool IsInTreePlugin(std::string_view name);

Plugins DefaultPlugins(const Behaviour& behaviour);

// The defaults with what a profile says on top, as v1's defaulting merges them.
Plugins MergePlugins(Plugins defaults, const Plugins& custom);

}  // namespace berth::config

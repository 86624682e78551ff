#include "config/default_plugins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "config/scheduler_plugins.h"

namespace berth::config {
namespace {

struct PointRow {
  std::string_view field;
  std::string_view interface;
  PluginSet Plugins::*set;
  std::optional<PluginSet> Plugins::*group_set = nullptr;  // of points of pod groups
};

constexpr std::array<PointRow, kAllPointCount> kPoints = {{
    {"preFilter", "PreFilterPlugin", &Plugins::pre_filter},
    {"filter", "FilterPlugin", &Plugins::filter},
    {"postFilter", "PostFilterPlugin", &Plugins::post_filter},
    {"reserve", "ReservePlugin", &Plugins::reserve},
    {"preScore", "PreScorePlugin", &Plugins::pre_score},
    {"score", "ScorePlugin", &Plugins::score},
    {"preBind", "PreBindPlugin", &Plugins::pre_bind},
    {"bind", "BindPlugin", &Plugins::bind},
    {"postBind", "PostBindPlugin", &Plugins::post_bind},
    {"permit", "PermitPlugin", &Plugins::permit},
    {"preEnqueue", "PreEnqueuePlugin", &Plugins::pre_enqueue},
    {"queueSort", "QueueSortPlugin", &Plugins::queue_sort},
    {"placementGenerate", "PlacementGeneratePlugin", nullptr, &Plugins::placement_generate},
    {"placementScore", "PlacementScorePlugin", nullptr, &Plugins::placement_score},
    {"podGroupPostFilter", "PodGroupPostFilterPlugin", nullptr, &Plugins::pod_group_post_filter},
}};

constexpr uint16_t Bit(ExtensionPoint point) { return static_cast<uint16_t>(1U << Index(point)); }
constexpr uint16_t kPreFilter = Bit(ExtensionPoint::kPreFilter);
constexpr uint16_t kFilter = Bit(ExtensionPoint::kFilter);
constexpr uint16_t kPostFilter = Bit(ExtensionPoint::kPostFilter);
constexpr uint16_t kReserve = Bit(ExtensionPoint::kReserve);
constexpr uint16_t kPreScore = Bit(ExtensionPoint::kPreScore);
constexpr uint16_t kScore = Bit(ExtensionPoint::kScore);
constexpr uint16_t kPreBind = Bit(ExtensionPoint::kPreBind);
constexpr uint16_t kBind = Bit(ExtensionPoint::kBind);
constexpr uint16_t kPreEnqueue = Bit(ExtensionPoint::kPreEnqueue);
constexpr uint16_t kQueueSort = Bit(ExtensionPoint::kQueueSort);
constexpr uint16_t kPermit = Bit(ExtensionPoint::kPermit);
constexpr uint16_t kPlacementGenerate = Bit(ExtensionPoint::kPlacementGenerate);
constexpr uint16_t kPlacementScore = Bit(ExtensionPoint::kPlacementScore);
constexpr uint16_t kPodGroupPostFilter = Bit(ExtensionPoint::kPodGroupPostFilter);

constexpr std::string_view kDynamicResources = "DynamicResources";
constexpr std::string_view kNodeName = "NodeName";
constexpr std::string_view kNodeUnschedulable = "NodeUnschedulable";
constexpr std::string_view kTaintToleration = "TaintToleration";

constexpr std::array kInTree = {
    InTreePlugin{"SchedulingGates", 0, kPreEnqueue},
    InTreePlugin{"PrioritySort", 0, kQueueSort},
    InTreePlugin{kNodeUnschedulable, 0, kFilter},
    InTreePlugin{kNodeName, 0, kFilter},
    InTreePlugin{kTaintToleration, 3, kFilter | kPreScore | kScore},
    InTreePlugin{"NodeAffinity", 2, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{"NodePorts", 0, kPreFilter | kFilter},
    InTreePlugin{"NodeResourcesFit", 1,
                 kPreFilter | kFilter | kPreScore | kScore | kPlacementScore},
    InTreePlugin{"VolumeRestrictions", 0, kPreFilter | kFilter},
    InTreePlugin{"NodeVolumeLimits", 0, kPreFilter | kFilter},
    InTreePlugin{"VolumeBinding", 0,
                 kPreFilter | kFilter | kReserve | kPreBind | kPreScore | kScore},
    InTreePlugin{"VolumeZone", 0, kPreFilter | kFilter},
    InTreePlugin{"PodTopologySpread", 2, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{"InterPodAffinity", 2, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{kDynamicResources, 0,
                 kPreEnqueue | kPreFilter | kFilter | kPostFilter | kReserve | kPreBind |
                     kPodGroupPostFilter},
    InTreePlugin{"DefaultPreemption", 0, kPostFilter | kPreEnqueue | kPodGroupPostFilter},
    InTreePlugin{"NodeResourcesBalancedAllocation", 1, kPreScore | kScore},
    InTreePlugin{"ImageLocality", 1, kScore},
    InTreePlugin{"DefaultBinder", 0, kBind},
};

// A default plugin with its gate.
constexpr InTreePlugin kNodeDeclaredFeatures{"NodeDeclaredFeatures", 0, kPreFilter | kFilter};
// Plugins of pod groups: with their gates off they do nothing.
constexpr InTreePlugin kGangScheduling{"GangScheduling", 0, kPreEnqueue | kPermit, true};
constexpr InTreePlugin kPlacements{"TopologyPlacementGenerator", 0, kPlacementGenerate, true};
constexpr InTreePlugin kPodsCount{"PodGroupPodsCount", 1, kPlacementScore, true};

std::set<std::string, std::less<>> NamesOf(const std::vector<Plugin>& plugins) {
  std::set<std::string, std::less<>> names;
  for (const Plugin& plugin : plugins) names.insert(plugin.name);
  return names;
}

// A default that the profile enables again keeps its place and takes the profile's weight; what the
// profile enables besides follows in its order.
PluginSet MergeSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet out;
  for (const PluginSet* set : {&custom, &defaults}) {
    for (const Plugin& plugin : set->disabled) out.disabled.push_back({plugin.name, 0});
  }
  const auto disabled = NamesOf(out.disabled);
  std::map<std::string_view, size_t> custom_index;
  for (size_t i = 0; i < custom.enabled.size(); ++i) custom_index[custom.enabled[i].name] = i;
  std::set<size_t> replaced;
  if (!disabled.contains("*")) {
    for (const Plugin& plugin : defaults.enabled) {
      if (disabled.contains(plugin.name)) continue;
      const auto it = custom_index.find(plugin.name);
      if (it != custom_index.end()) replaced.insert(it->second);
      out.enabled.push_back(it != custom_index.end() ? custom.enabled[it->second] : plugin);
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replaced.contains(i)) out.enabled.push_back(custom.enabled[i]);
  }
  return out;
}

}  // namespace

std::string_view FieldName(ExtensionPoint point) { return kPoints[Index(point)].field; }
std::string_view InterfaceName(ExtensionPoint point) { return kPoints[Index(point)].interface; }

const PluginSet& SetOf(const Plugins& plugins, ExtensionPoint point) {
  static const PluginSet kNothing;
  const PointRow& row = kPoints[Index(point)];
  if (row.set != nullptr) return plugins.*row.set;
  const std::optional<PluginSet>& set = plugins.*row.group_set;
  return set ? *set : kNothing;
}

PluginSet& SetOf(Plugins& plugins, ExtensionPoint point) {
  return plugins.*kPoints[Index(point)].set;
}

std::vector<ExtensionPoint> PointsOf(const Behaviour& behaviour) {
  std::vector<ExtensionPoint> points;
  for (size_t i = 0; i < kExtensionPointCount; ++i) {
    points.push_back(static_cast<ExtensionPoint>(i));
  }
  if (behaviour.placement_points) {
    points.push_back(ExtensionPoint::kPlacementGenerate);
    points.push_back(ExtensionPoint::kPlacementScore);
  }
  if (behaviour.pod_group_post_filter_point) points.push_back(ExtensionPoint::kPodGroupPostFilter);
  return points;
}

std::vector<InTreePlugin> InTreePlugins(const Behaviour& behaviour) {
  std::vector<InTreePlugin> plugins(kInTree.begin(), kInTree.end());
  const auto at = [&](std::string_view name) {
    return std::find_if(plugins.begin(), plugins.end(),
                        [&](const InTreePlugin& plugin) { return plugin.name == name; });
  };
  const auto devices = at(kDynamicResources);
  // The plugin exists, and does nothing.
  devices->inert = !behaviour.dynamic_resources;
  if (behaviour.devices_score) {
    devices->points |= kScore;
    devices->default_weight = 2;
  }
  if (behaviour.cheap_filters_pre_filter) {
    for (const std::string_view name : {kNodeName, kNodeUnschedulable, kTaintToleration}) {
      at(name)->points |= kPreFilter;
    }
  }
  if (behaviour.node_name_first) std::iter_swap(at(kNodeName), at(kNodeUnschedulable));
  if (behaviour.node_feature_events) {
    plugins.push_back(kNodeDeclaredFeatures);
    plugins.back().inert = !behaviour.node_declared_features;
    plugins.push_back(kGangScheduling);
    plugins.back().inert = !behaviour.pod_groups;
  }
  if (behaviour.placement_points) {
    for (const InTreePlugin& plugin : {kPlacements, kPodsCount}) {
      plugins.push_back(plugin);
      plugins.back().inert = !behaviour.pod_group_topology;
    }
  }
  return plugins;
}

bool IsInTreePlugin(std::string_view name) {
  const auto named = [&](const InTreePlugin& plugin) { return plugin.name == name; };
  return name == kNodeDeclaredFeatures.name || name == kGangScheduling.name ||
         name == kPlacements.name || name == kPodsCount.name ||
         std::any_of(kInTree.begin(), kInTree.end(), named) ||
         std::any_of(SchedulerPlugins().begin(), SchedulerPlugins().end(), named);
}

Plugins DefaultPlugins(const Behaviour& behaviour) {
  Plugins plugins;
  for (const InTreePlugin& plugin : InTreePlugins(behaviour)) {
    if (plugin.inert) continue;
    plugins.multi_point.enabled.push_back({std::string(plugin.name), plugin.default_weight});
  }
  return plugins;
}

Plugins MergePlugins(Plugins defaults, const Plugins& custom) {
  for (const PointRow& row : kPoints) {
    if (row.set != nullptr) {
      defaults.*row.set = MergeSet(defaults.*row.set, custom.*row.set);
    } else if (custom.*row.group_set) {  // no plugin is at these points by default
      defaults.*row.group_set = MergeSet({}, *(custom.*row.group_set));
    }
  }
  defaults.multi_point = MergeSet(defaults.multi_point, custom.multi_point);
  return defaults;
}

}  // namespace berth::config

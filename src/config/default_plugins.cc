#include "config/default_plugins.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace berth::config {
namespace {

struct PointRow {
  std::string_view field;
  std::string_view interface;
  PluginSet Plugins::*set;
};

constexpr std::array<PointRow, kExtensionPointCount> kPoints = {{
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
    InTreePlugin{"NodeResourcesFit", 1, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{"VolumeRestrictions", 0, kPreFilter | kFilter},
    InTreePlugin{"NodeVolumeLimits", 0, kPreFilter | kFilter},
    InTreePlugin{"VolumeBinding", 0,
                 kPreFilter | kFilter | kReserve | kPreBind | kPreScore | kScore},
    InTreePlugin{"VolumeZone", 0, kPreFilter | kFilter},
    InTreePlugin{"PodTopologySpread", 2, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{"InterPodAffinity", 2, kPreFilter | kFilter | kPreScore | kScore},
    InTreePlugin{kDynamicResources, 0,
                 kPreEnqueue | kPreFilter | kFilter | kPostFilter | kReserve | kPreBind},
    InTreePlugin{"DefaultPreemption", 0, kPostFilter | kPreEnqueue},
    InTreePlugin{"NodeResourcesBalancedAllocation", 1, kPreScore | kScore},
    InTreePlugin{"ImageLocality", 1, kScore},
    InTreePlugin{"DefaultBinder", 0, kBind},
};

// With its gate, from 1.35 on.
constexpr InTreePlugin kNodeDeclaredFeatures{"NodeDeclaredFeatures", 0, kPreFilter | kFilter};

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
  return plugins.*kPoints[Index(point)].set;
}
PluginSet& SetOf(Plugins& plugins, ExtensionPoint point) {
  return plugins.*kPoints[Index(point)].set;
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
  if (behaviour.node_declared_features) plugins.push_back(kNodeDeclaredFeatures);
  return plugins;
}

bool IsInTreePlugin(std::string_view name) {
  return name == kNodeDeclaredFeatures.name ||
         std::any_of(kInTree.begin(), kInTree.end(),
                     [&](const InTreePlugin& plugin) { return plugin.name == name; });
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
  for (size_t i = 0; i < kExtensionPointCount; ++i) {
    const auto point = static_cast<ExtensionPoint>(i);
    SetOf(defaults, point) = MergeSet(SetOf(defaults, point), SetOf(custom, point));
  }
  defaults.multi_point = MergeSet(defaults.multi_point, custom.multi_point);
  defaults.placement_generate = custom.placement_generate;
  defaults.placement_score = custom.placement_score;
  defaults.pod_group_post_filter = custom.pod_group_post_filter;
  return defaults;
}

}  // namespace berth::config

#include "scheduler/group_adoption.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/args/coscheduling_args.h"
#include "plugins/coscheduling/group_mode.h"

namespace berth::scheduler {
namespace {

using config::EnabledPlugin;
using config::ExtensionPoint;
using config::ResolvedProfile;

constexpr std::string_view kCoscheduling = config::CoschedulingArgs::kPlugin;
constexpr std::string_view kGangs = "GangScheduling";

bool Has(const std::vector<EnabledPlugin>& plugins, std::string_view name) {
  return std::ranges::find(plugins, name, &EnabledPlugin::name) != plugins.end();
}

bool Adopts(const ResolvedProfile& profile) {
  const auto own =
      std::ranges::find(profile.plugin_config, kCoscheduling, &config::PluginConfig::name);
  if (own == profile.plugin_config.end()) return false;
  const auto* args = config::OwnArgsAs<config::CoschedulingArgs>(own->args);
  return args != nullptr && args->GroupMode() &&
         std::ranges::any_of(profile.points,
                             [](const auto& plugins) { return Has(plugins, kCoscheduling); });
}

void EnableAt(ExtensionPoint point, std::string_view plugin, ResolvedProfile& profile) {
  auto& enabled = profile.points[config::Index(point)];
  if (!Has(enabled, plugin)) enabled.push_back({std::string(plugin), 0});
}

}  // namespace

bool AdoptsGroups(std::span<const ResolvedProfile> profiles) {
  return std::ranges::any_of(profiles, Adopts);
}

// GangScheduling says what a group needs, and the plugins that preempt for pods preempt for groups
// where Kubernetes has no point for that. Coscheduling sorts the queue.
void ServeAdoptedGroups(const config::Behaviour& behaviour, ResolvedProfile& profile) {
  for (size_t i = 0; i < profile.points.size(); ++i) {
    if (i == config::Index(ExtensionPoint::kQueueSort)) continue;
    std::erase_if(profile.points[i],
                  [](const EnabledPlugin& plugin) { return plugin.name == kCoscheduling; });
  }
  EnableAt(ExtensionPoint::kPreEnqueue, kGangs, profile);
  EnableAt(ExtensionPoint::kPermit, kGangs, profile);
  if (behaviour.pod_group_post_filter_point) return;
  for (const std::string_view plugin : {"DynamicResources", "DefaultPreemption"}) {
    if (Has(profile.At(ExtensionPoint::kPostFilter), plugin)) {
      EnableAt(ExtensionPoint::kPodGroupPostFilter, plugin, profile);
    }
  }
}

Result<cluster::AdoptedGroups> AdoptedGroupsOf(const config::KubeSchedulerConfiguration& config,
                                               const config::Behaviour& behaviour,
                                               std::span<const ExtraPlugin> extra) {
  config::ResolveOptions options;
  options.behaviour = behaviour;
  options.out_of_tree = OutOfTree(extra);
  const auto resolved = config::Resolve(config, options);
  if (!resolved) return Fail(resolved.error());
  if (!AdoptsGroups(resolved->profiles)) return cluster::AdoptedGroups();
  return cluster::AdoptedGroups(plugins::coscheduling::GroupModeKinds(), behaviour.pod_groups);
}

}  // namespace berth::scheduler

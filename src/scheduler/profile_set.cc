#include "scheduler/profile_set.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cluster/objects/kind_table.h"
#include "plugins/registry.h"
#include "scheduler/group_adoption.h"

namespace berth::scheduler {
namespace {

// What an out-of-tree plugin is made with, behind the handle that every plugin gets.
struct OutOfTreeHandle : framework::PluginHandle {
  const config::ResolvedProfile& profile;
  std::span<const ExtraPlugin> extra;
};

// The factory of all out-of-tree plugins. Factories are not told names, but `args` is those of one
// entry of the profile, and the entry has both the name and the text.
Result<std::unique_ptr<framework::Plugin>> MakeOutOfTree(const config::PluginArgs& args,
                                                         const framework::PluginHandle& handle) {
  const auto& more = static_cast<const OutOfTreeHandle&>(handle);
  for (const config::PluginConfig& entry : more.profile.plugin_config) {
    if (&entry.args != &args) continue;
    for (const ExtraPlugin& plugin : more.extra) {
      if (plugin.row.name == entry.name) return plugin.make(entry.raw.text, handle);
    }
  }
  return Fail("no such out-of-tree plugin");
}

void Enable(const ExtraPlugin& plugin, config::ResolvedProfile& profile) {
  const std::string name(plugin.row.name);
  if (plugin.make) {
    const auto& entries = profile.plugin_config;
    const bool has_args =
        std::any_of(entries.begin(), entries.end(),
                    [&](const config::PluginConfig& entry) { return entry.name == name; });
    if (!has_args) profile.plugin_config.push_back({name, {}, {}});
    return;
  }
  for (const config::ExtensionPoint point : plugin.points) {
    profile.points[config::Index(point)].push_back({name, 1});
  }
}

Result<std::vector<config::ResolvedProfile>> ResolveProfiles(
    const config::KubeSchedulerConfiguration& config, const config::Behaviour& behaviour,
    std::span<const ExtraPlugin> extra) {
  config::ResolveOptions options;
  options.behaviour = behaviour;
  options.out_of_tree = OutOfTree(extra);
  auto resolved = config::Resolve(config, options);
  if (!resolved) return Fail(resolved.error());
  for (config::ResolvedProfile& profile : resolved->profiles) {
    for (const ExtraPlugin& plugin : extra) Enable(plugin, profile);
  }
  return std::move(resolved->profiles);
}

std::vector<framework::RegistryRow> RegistryWith(std::span<const ExtraPlugin> extra) {
  std::vector<framework::RegistryRow> registry(plugins::InTree().begin(), plugins::InTree().end());
  for (const ExtraPlugin& plugin : extra) {
    framework::RegistryRow& row = registry.emplace_back(plugin.row);
    if (plugin.make) row.make = &MakeOutOfTree;
  }
  return registry;
}

// Lists name a kind without its group.
Result<cluster::PluginInputs> CheckedInputs(std::span<const config::ResolvedProfile> profiles,
                                            std::span<const framework::RegistryRow> registry) {
  cluster::PluginInputs inputs;
  for (const config::ResolvedProfile& profile : profiles) {
    inputs.Add(framework::InputsOf(profile, registry));
  }
  std::set<std::string> names;
  for (const cluster::CustomKind& kind : inputs.kinds) {
    if (!names.insert(cluster::ListNameOf(kind)).second) {
      return Fail(
          fmt::format("custom resource {}.{}: another kind has this name", kind.kind, kind.group));
    }
  }
  return inputs;
}

}  // namespace

std::vector<config::InTreePlugin> OutOfTree(std::span<const ExtraPlugin> extra) {
  std::vector<config::InTreePlugin> plugins;
  for (const ExtraPlugin& plugin : extra) {
    if (!plugin.make) continue;
    uint16_t points = 0;
    for (const config::ExtensionPoint point : plugin.points) {
      points = static_cast<uint16_t>(points | 1u << config::Index(point));
    }
    plugins.push_back({plugin.row.name, 0, points});
  }
  return plugins;
}

Result<cluster::PluginInputs> InputsOf(const config::KubeSchedulerConfiguration& config,
                                       const config::Behaviour& behaviour,
                                       std::span<const ExtraPlugin> extra) {
  auto profiles = ResolveProfiles(config, behaviour, extra);
  if (!profiles) return Fail(profiles.error());
  return CheckedInputs(*profiles, RegistryWith(extra));
}

Result<ProfileSet> ProfileSet::Make(const config::KubeSchedulerConfiguration& config,
                                    const config::Behaviour& behaviour, cluster::Cluster& cluster,
                                    framework::Executor* executor, uint64_t seed,
                                    std::span<const ExtraPlugin> extra,
                                    framework::PodControl* pods) {
  auto profiles = ResolveProfiles(config, behaviour, extra);
  if (!profiles) return Fail(profiles.error());
  const std::vector<framework::RegistryRow> registry = RegistryWith(extra);
  const auto inputs = CheckedInputs(*profiles, registry);
  if (!inputs) return Fail(inputs.error());
  cluster.Track(*inputs);
  ProfileSet set;
  config::Behaviour with_groups = behaviour;
  if (AdoptsGroups(*profiles)) {
    with_groups.pod_groups = true;
    for (config::ResolvedProfile& profile : *profiles) ServeAdoptedGroups(behaviour, profile);
  }
  for (config::ResolvedProfile& profile : *profiles) {
    auto made = framework::Profile::Make(
        profile, registry, OutOfTreeHandle{{cluster, seed, with_groups, pods}, profile, extra});
    if (!made) return Fail(made.error().In("profile \"" + profile.scheduler_name + "\""));
    set.profiles_.push_back(std::move(*made));
    set.cycles_.push_back(std::make_unique<framework::Cycle>(*set.profiles_.back(), executor));
  }
  return set;
}

framework::Cycle* ProfileSet::CycleFor(std::string_view scheduler_name) {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (profiles_[i]->Name() == scheduler_name) return cycles_[i].get();
  }
  return nullptr;
}

}  // namespace berth::scheduler

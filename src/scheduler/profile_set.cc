#include "scheduler/profile_set.h"

#include <algorithm>

#include "plugins/registry.h"

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

Result<ProfileSet> ProfileSet::Make(const config::KubeSchedulerConfiguration& config,
                                    const config::Behaviour& behaviour, cluster::Cluster& cluster,
                                    framework::Executor* executor, uint64_t seed,
                                    std::span<const ExtraPlugin> extra) {
  config::ResolveOptions options;
  options.behaviour = behaviour;
  options.out_of_tree = OutOfTree(extra);
  auto resolved = config::Resolve(config, options);
  if (!resolved) return Fail(resolved.error());
  std::vector<framework::RegistryRow> registry(plugins::InTree().begin(), plugins::InTree().end());
  for (const ExtraPlugin& plugin : extra) {
    registry.push_back({plugin.row.name, plugin.make
                                             ? static_cast<framework::PluginFactory>(&MakeOutOfTree)
                                             : plugin.row.make});
  }
  ProfileSet set;
  for (config::ResolvedProfile& profile : resolved->profiles) {
    for (const ExtraPlugin& plugin : extra) Enable(plugin, profile);
    auto made = framework::Profile::Make(
        profile, registry, OutOfTreeHandle{{cluster, seed, behaviour}, profile, extra});
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

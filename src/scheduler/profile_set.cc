#include "scheduler/profile_set.h"

#include "plugins/registry.h"

namespace berth::scheduler {
namespace {

void Enable(const ExtraPlugin& plugin, config::ResolvedProfile& profile) {
  for (const config::ExtensionPoint point : plugin.points) {
    profile.points[config::Index(point)].push_back({std::string(plugin.row.name), 1});
  }
}

}  // namespace

Result<ProfileSet> ProfileSet::Make(const config::KubeSchedulerConfiguration& config,
                                    cluster::Cluster& cluster, framework::Executor* executor,
                                    uint64_t seed, std::span<const ExtraPlugin> extra) {
  auto resolved = config::Resolve(config);
  if (!resolved) return Fail(resolved.error());
  std::vector<framework::RegistryRow> registry(plugins::InTree().begin(), plugins::InTree().end());
  for (const ExtraPlugin& plugin : extra) registry.push_back(plugin.row);
  ProfileSet set;
  for (config::ResolvedProfile& profile : resolved->profiles) {
    for (const ExtraPlugin& plugin : extra) Enable(plugin, profile);
    auto made = framework::Profile::Make(profile, registry, {cluster, seed});
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

#include "scheduler/profile_set.h"

#include "plugins/registry.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

// Leaves out in-tree plugins that are not built in.
config::ResolvedProfile Available(config::ResolvedProfile profile) {
  for (auto& point : profile.points) {
    std::erase_if(point, [](const config::EnabledPlugin& plugin) {
      const auto rows = plugins::InTree();
      return std::none_of(rows.begin(), rows.end(),
                          [&](const auto& row) { return row.name == plugin.name; });
    });
  }
  return profile;
}

}  // namespace

Result<ProfileSet> ProfileSet::Make(const config::KubeSchedulerConfiguration& config,
                                    cluster::Cluster& cluster, framework::Executor* executor) {
  const auto resolved = config::Resolve(config);
  if (!resolved) return Fail(resolved.error());
  ProfileSet set;
  for (const config::ResolvedProfile& profile : resolved->profiles) {
    auto made = framework::Profile::Make(Available(profile), plugins::InTree(), {cluster});
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

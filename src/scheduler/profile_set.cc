#include "scheduler/profile_set.h"

#include "plugins/registry.h"

namespace berth::scheduler {
Result<ProfileSet> ProfileSet::Make(const config::KubeSchedulerConfiguration& config,
                                    cluster::Cluster& cluster, framework::Executor* executor,
                                    uint64_t seed) {
  const auto resolved = config::Resolve(config);
  if (!resolved) return Fail(resolved.error());
  ProfileSet set;
  for (const config::ResolvedProfile& profile : resolved->profiles) {
    auto made = framework::Profile::Make(profile, plugins::InTree(), {cluster, seed});
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

// ProfileSet: the profiles of a configuration, ready to schedule pods of one cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "framework/cycle.h"
#include "framework/profile.h"

namespace berth::scheduler {

// A plugin that is not in-tree, compiled in: every profile gets it, last at each of its points.
struct ExtraPlugin {
  framework::RegistryRow row;
  std::vector<config::ExtensionPoint> points;
};

class ProfileSet {
 public:
  // Makes the plugins of every profile. `cluster` and `executor` (may be null) outlive the set.
  // `seed` is for plugins that choose among equals.
  static Result<ProfileSet> Make(const config::KubeSchedulerConfiguration& config,
                                 cluster::Cluster& cluster, framework::Executor* executor = nullptr,
                                 uint64_t seed = 0, std::span<const ExtraPlugin> extra = {});

  // The cycle of the profile for `scheduler_name`, null when there is none.
  framework::Cycle* CycleFor(std::string_view scheduler_name);

  const std::vector<std::unique_ptr<framework::Profile>>& Profiles() const { return profiles_; }

 private:
  std::vector<std::unique_ptr<framework::Profile>> profiles_;
  std::vector<std::unique_ptr<framework::Cycle>> cycles_;
};

}  // namespace berth::scheduler

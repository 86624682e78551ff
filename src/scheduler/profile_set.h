// ProfileSet: the profiles of a configuration, ready to schedule pods of one cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/profile.h"

namespace berth::scheduler {

// Makes an out-of-tree plugin from the text of its arguments (JSON; empty: pluginConfig has none).
using OutOfTreeFactory = std::function<Result<std::unique_ptr<framework::Plugin>>(
    std::string_view args, const framework::PluginHandle& handle)>;

// A plugin that is not in-tree. Compiled in: every profile gets it, last at each of its points. Out
// of tree: the profiles that enable it get it, where they say.
struct ExtraPlugin {
  framework::RegistryRow row;  // row.make is not used when `make` is set
  std::vector<config::ExtensionPoint> points;
  OutOfTreeFactory make = {};  // set: out of tree
};

// What config::Resolve must know of them. The names are those of `extra`, which outlives it.
std::vector<config::InTreePlugin> OutOfTree(std::span<const ExtraPlugin> extra);

// What the plugins of a configuration read besides the compiled-in kinds: hosts track it before the
// first object arrives. Fails as ProfileSet::Make does, and when two kinds have one name.
Result<cluster::PluginInputs> InputsOf(const config::KubeSchedulerConfiguration& config,
                                       const config::Behaviour& behaviour,
                                       std::span<const ExtraPlugin> extra = {});

class ProfileSet {
 public:
  // Makes the plugins of every profile. `cluster` and `executor` (may be null)
  // outlive the set. `behaviour` is the one the configuration was loaded with;
  // `seed` is for plugins that choose among equals. `pods` is for plugins that act on other pods;
  // null: they cannot.
  static Result<ProfileSet> Make(const config::KubeSchedulerConfiguration& config,
                                 const config::Behaviour& behaviour, cluster::Cluster& cluster,
                                 framework::Executor* executor = nullptr, uint64_t seed = 0,
                                 std::span<const ExtraPlugin> extra = {},
                                 framework::PodControl* pods = nullptr);

  // The cycle of the profile for `scheduler_name`, null when there is none.
  framework::Cycle* CycleFor(std::string_view scheduler_name);

  const std::vector<std::unique_ptr<framework::Profile>>& Profiles() const { return profiles_; }

 private:
  std::vector<std::unique_ptr<framework::Profile>> profiles_;
  std::vector<std::unique_ptr<framework::Cycle>> cycles_;
};

}  // namespace berth::scheduler

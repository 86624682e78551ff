// Profile: the plugins of one schedulerName, in order, at each extension point.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/inputs.h"
#include "config/config.h"
#include "framework/points/plugin.h"
#include "framework/points/pod_control.h"
#include "framework/points/pod_group.h"
#include "framework/points/pre_bind.h"

namespace berth::framework {

// What a plugin may keep from its construction on.
struct PluginHandle {
  cluster::Cluster& cluster;  // also all other objects: cluster.Objects()
  uint64_t seed = 0;          // for plugins that choose among equals
  config::Behaviour behaviour = {};
  // Pods that wait, and activation. Null where there is no engine: in simulations of single
  // decisions.
  PodControl* pods = nullptr;
};

// Creates a plugin from its arguments (of the type that belongs to its name).
using PluginFactory = Result<std::unique_ptr<Plugin>> (*)(const config::PluginArgs& args,
                                                          const PluginHandle& handle);

struct RegistryRow {
  std::string_view name;
  PluginFactory make;
  // What the plugin reads besides the compiled-in kinds. Null: nothing.
  cluster::PluginInputs (*inputs)(const config::PluginArgs& args) = nullptr;
};

// What the plugins of a profile read besides the compiled-in kinds.
cluster::PluginInputs InputsOf(const config::ResolvedProfile& resolved,
                               std::span<const RegistryRow> registry);

// A plugin at an extension point, with its position in the plugin table.
template <class Point>
struct Served {
  Point* plugin;
  uint8_t index;
};

struct ServedScore {
  ScorePlugin* plugin;
  uint8_t index;
  int64_t weight;
};

struct ServedPlacementScore {
  PlacementScorePlugin* plugin;
  uint8_t index;
  int64_t weight;
};

class Profile {
 public:
  // Creates every plugin that `resolved` names at an extension point. `registry` must contain them
  // all.
  static Result<std::unique_ptr<Profile>> Make(const config::ResolvedProfile& resolved,
                                               std::span<const RegistryRow> registry,
                                               const PluginHandle& handle);

  const std::string& Name() const { return name_; }
  const config::Behaviour& GetBehaviour() const { return behaviour_; }
  // 0: adaptive.
  int32_t PercentageOfNodesToScore() const { return percentage_; }

  // The plugin table. Verdict::plugin and PluginState positions index it.
  std::span<const std::unique_ptr<Plugin>> Plugins() const { return plugins_; }
  const Plugin& At(uint8_t index) const { return *plugins_[index]; }

  // Extension points, each in the order of the configuration.
  std::vector<Served<PreEnqueuePlugin>> pre_enqueue;
  std::vector<Served<QueueSortPlugin>> queue_sort;
  std::vector<Served<PreFilterPlugin>> pre_filter;
  std::vector<Served<FilterPlugin>> filter;
  std::vector<Served<PostFilterPlugin>> post_filter;
  std::vector<Served<PreScorePlugin>> pre_score;
  std::vector<ServedScore> score;
  std::vector<Served<ReservePlugin>> reserve;
  std::vector<Served<PermitPlugin>> permit;
  std::vector<Served<PreBindPlugin>> pre_bind;
  std::vector<Served<BindPlugin>> bind;
  std::vector<Served<PostBindPlugin>> post_bind;
  // Points of pod groups; empty where groups are not scheduled (Behaviour::pod_groups).
  std::vector<Served<PlacementFeasiblePlugin>> placement_feasible;  // Permit plugins that serve it
  std::vector<Served<PlacementGeneratePlugin>> placement_generate;  // at most one
  std::vector<ServedPlacementScore> placement_score;
  std::vector<Served<PodGroupPostFilterPlugin>> pod_group_post_filter;

 private:
  Profile() = default;

  // The position of plugin `name`, which is created on first use.
  Result<uint8_t> PluginAt(std::string_view name, const config::ResolvedProfile& resolved,
                           std::span<const RegistryRow> registry, const PluginHandle& handle);
  template <class Point>
  Result<void> Fill(config::ExtensionPoint point, std::vector<Served<Point>>* served,
                    const config::ResolvedProfile& resolved, std::span<const RegistryRow> registry,
                    const PluginHandle& handle);

  std::string name_;
  config::Behaviour behaviour_;
  int32_t percentage_ = 0;
  std::vector<std::unique_ptr<Plugin>> plugins_;
};

}  // namespace berth::framework

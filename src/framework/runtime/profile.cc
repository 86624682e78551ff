#include "framework/runtime/profile.h"

#include <algorithm>

#include <fmt/format.h>

namespace berth::framework {
namespace {

using config::ExtensionPoint;

// Positions are 8 bits wide, and one value means "no plugin".
constexpr size_t kMaxPlugins = kNoPlugin;

const config::PluginArgs& ArgsFor(const config::ResolvedProfile& resolved, std::string_view name) {
  static const config::PluginArgs kNone;
  for (const config::PluginConfig& entry : resolved.plugin_config) {
    if (entry.name == name) return entry.args;
  }
  return kNone;
}

}  // namespace

cluster::PluginInputs InputsOf(const config::ResolvedProfile& resolved,
                               std::span<const RegistryRow> registry) {
  cluster::PluginInputs inputs;
  for (const RegistryRow& row : registry) {
    const bool enabled =
        std::any_of(resolved.points.begin(), resolved.points.end(), [&](const auto& plugins) {
          return std::any_of(plugins.begin(), plugins.end(),
                             [&](const config::EnabledPlugin& p) { return p.name == row.name; });
        });
    if (enabled && row.inputs != nullptr) inputs.Add(row.inputs(ArgsFor(resolved, row.name)));
  }
  return inputs;
}

Result<uint8_t> Profile::PluginAt(std::string_view name, const config::ResolvedProfile& resolved,
                                  std::span<const RegistryRow> registry,
                                  const PluginHandle& handle) {
  for (size_t i = 0; i < plugins_.size(); ++i) {
    if (plugins_[i]->Name() == name) return static_cast<uint8_t>(i);
  }
  const auto row = std::find_if(registry.begin(), registry.end(),
                                [&](const RegistryRow& r) { return r.name == name; });
  if (row == registry.end()) return Fail(fmt::format("plugin \"{}\" is not available", name));
  if (plugins_.size() == kMaxPlugins) return Fail("too many plugins in one profile");
  auto plugin = row->make(ArgsFor(resolved, name), handle);
  if (!plugin)
    return Fail(fmt::format("initializing plugin \"{}\": {}", name, plugin.error().Message()));
  plugins_.push_back(std::move(*plugin));
  return static_cast<uint8_t>(plugins_.size() - 1);
}

template <class Point>
Result<void> Profile::Fill(ExtensionPoint point, std::vector<Served<Point>>* served,
                           const config::ResolvedProfile& resolved,
                           std::span<const RegistryRow> registry, const PluginHandle& handle) {
  for (const config::EnabledPlugin& enabled : resolved.At(point)) {
    const auto index = PluginAt(enabled.name, resolved, registry, handle);
    if (!index) return Fail(index.error());
    auto* plugin = dynamic_cast<Point*>(plugins_[*index].get());
    if (plugin == nullptr) {
      return Fail(fmt::format("plugin \"{}\" does not extend {} plugin", enabled.name,
                              config::InterfaceName(point)));
    }
    served->push_back({plugin, *index});
  }
  return {};
}

Result<std::unique_ptr<Profile>> Profile::Make(const config::ResolvedProfile& resolved,
                                               std::span<const RegistryRow> registry,
                                               const PluginHandle& handle) {
  std::unique_ptr<Profile> profile(new Profile());
  profile->name_ = resolved.scheduler_name;
  profile->behaviour_ = handle.behaviour;
  profile->percentage_ = resolved.percentage_of_nodes_to_score;
  const auto fill = [&](ExtensionPoint point, auto* served) {
    return profile->Fill(point, served, resolved, registry, handle);
  };
  std::vector<Served<ScorePlugin>> score;
  Result<void> done = fill(ExtensionPoint::kPreEnqueue, &profile->pre_enqueue);
  if (done) done = fill(ExtensionPoint::kQueueSort, &profile->queue_sort);
  if (done) done = fill(ExtensionPoint::kPreFilter, &profile->pre_filter);
  if (done) done = fill(ExtensionPoint::kFilter, &profile->filter);
  if (done) done = fill(ExtensionPoint::kPostFilter, &profile->post_filter);
  if (done) done = fill(ExtensionPoint::kPreScore, &profile->pre_score);
  if (done) done = fill(ExtensionPoint::kScore, &score);
  if (done) done = fill(ExtensionPoint::kReserve, &profile->reserve);
  if (done) done = fill(ExtensionPoint::kPermit, &profile->permit);
  if (done) done = fill(ExtensionPoint::kPreBind, &profile->pre_bind);
  if (done) done = fill(ExtensionPoint::kBind, &profile->bind);
  if (done) done = fill(ExtensionPoint::kPostBind, &profile->post_bind);
  std::vector<Served<PlacementScorePlugin>> placement_score;
  if (handle.behaviour.pod_groups) {
    for (const auto& [plugin, index] : profile->permit) {
      auto* feasible = dynamic_cast<PlacementFeasiblePlugin*>(plugin);
      if (feasible != nullptr) profile->placement_feasible.push_back({feasible, index});
    }
    if (done) done = fill(ExtensionPoint::kPlacementGenerate, &profile->placement_generate);
    if (done) done = fill(ExtensionPoint::kPlacementScore, &placement_score);
    if (done) done = fill(ExtensionPoint::kPodGroupPostFilter, &profile->pod_group_post_filter);
  }
  if (!done) return Fail(done.error());
  const auto& placement_weights = resolved.At(ExtensionPoint::kPlacementScore);
  for (size_t i = 0; i < placement_score.size(); ++i) {
    const auto& [plugin, index] = placement_score[i];
    profile->placement_score.push_back({plugin, index, placement_weights[i].weight});
  }
  const auto& weights = resolved.At(ExtensionPoint::kScore);
  for (size_t i = 0; i < score.size(); ++i) {
    profile->score.push_back({score[i].plugin, score[i].index, weights[i].weight});
  }
  return profile;
}

}  // namespace berth::framework

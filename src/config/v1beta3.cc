#include "config/v1beta3.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/default_plugins.h"

namespace berth::config {
namespace {

// Plugins that v1beta3 had and v1.34 has not, and the plugin that its release notes name instead.
struct RemovedPlugin {
  std::string_view name;
  std::string_view since;
  std::string_view heir;
};
constexpr std::array<RemovedPlugin, 5> kRemoved = {{
    {"SelectorSpread", "v1.25", "PodTopologySpread"},
    {"EBSLimits", "v1.32", "NodeVolumeLimits"},
    {"GCEPDLimits", "v1.32", "NodeVolumeLimits"},
    {"AzureDiskLimits", "v1.32", "NodeVolumeLimits"},
    {"CinderLimits", "v1.32", "NodeVolumeLimits"},
}};

bool Names(const std::vector<Plugin>& plugins, std::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(),
                     [&](const Plugin& plugin) { return plugin.name == name; });
}

bool Disables(const PluginSet& set, std::string_view name) {
  return Names(set.disabled, name) || Names(set.disabled, "*");
}

// Whether the plugin, a default one, comes to the point of `set` without being named there.
bool ComesByDefault(const PluginSet& set, const PluginSet& multi_point, std::string_view name) {
  if (Disables(set, name)) return false;
  return Names(multi_point.enabled, name) || !Disables(multi_point, name);
}

struct Outcome {
  bool left_out = false;
  bool replaced = false;
};

// Takes a removed plugin out of one set. Its heir gets its place if it would not run otherwise.
void Remove(const RemovedPlugin& removed, PluginSet& set, const PluginSet& multi_point,
            Outcome& outcome) {
  const auto is_removed = [&](const Plugin& plugin) { return plugin.name == removed.name; };
  const auto enabled = std::find_if(set.enabled.begin(), set.enabled.end(), is_removed);
  if (enabled != set.enabled.end() && !Names(set.enabled, removed.heir) &&
      !ComesByDefault(set, multi_point, removed.heir)) {
    enabled->name = removed.heir;
    outcome.replaced = true;
  }
  const size_t dropped =
      std::erase_if(set.enabled, is_removed) + std::erase_if(set.disabled, is_removed);
  if (dropped > 0) outcome.left_out = true;
}

void Remove(const RemovedPlugin& removed, KubeSchedulerProfile& profile, Outcome& outcome) {
  PluginSet& multi_point = profile.plugins.multi_point;
  Remove(removed, multi_point, multi_point, outcome);
  for (size_t i = 0; i < kExtensionPointCount; ++i) {
    Remove(removed, SetOf(profile.plugins, static_cast<ExtensionPoint>(i)), multi_point, outcome);
  }
  const size_t dropped = std::erase_if(
      profile.plugin_config, [&](const PluginConfig& entry) { return entry.name == removed.name; });
  if (dropped > 0) outcome.left_out = true;
}

}  // namespace

std::vector<std::string> AnyVersion::Warnings() const {
  if (!deprecated) return {};
  std::vector<std::string> lines = {
      fmt::format("{} is deprecated since v1.26 and unknown to kube-scheduler since v1.29: convert "
                  "the file with berth config convert",
                  kV1beta3)};
  lines.insert(lines.end(), changes.begin(), changes.end());
  return lines;
}

// v1 has every field of v1beta3 and the same defaults, so plugins are all that changes.
void ConvertV1beta3(KubeSchedulerConfiguration& config, std::vector<std::string>& changes) {
  for (const RemovedPlugin& removed : kRemoved) {
    Outcome outcome;
    for (KubeSchedulerProfile& profile : config.profiles) Remove(removed, profile, outcome);
    if (outcome.replaced) {
      changes.push_back(fmt::format("plugin {} is gone since {}: {} takes its place", removed.name,
                                    removed.since, removed.heir));
    } else if (outcome.left_out) {
      changes.push_back(fmt::format("plugin {} is gone since {} and was left out: {} does its work",
                                    removed.name, removed.since, removed.heir));
    }
  }
  bool pre_enqueue = false;
  for (KubeSchedulerProfile& profile : config.profiles) {
    pre_enqueue |= !(profile.plugins.pre_enqueue == PluginSet());
    profile.plugins.pre_enqueue = {};
  }
  if (pre_enqueue) {
    changes.push_back("plugins.preEnqueue has no effect in v1beta3 and was left out");
  }
}

}  // namespace berth::config

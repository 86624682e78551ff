#include "config/defaults.h"

#include <set>
#include <string>

#include "config/config.h"
#include "config/default_plugins.h"

namespace berth::config {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

void DefaultTo(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

void DefaultTo(api::Duration& field, int64_t seconds) {
  if (field.ns == 0) field.ns = seconds * kSecond;
}

void SetDefaults(LeaderElectionConfiguration& config) {
  DefaultTo(config.lease_duration, 15);
  DefaultTo(config.renew_deadline, 10);
  DefaultTo(config.retry_period, 2);
  DefaultTo(config.resource_lock, "leases");
  DefaultTo(config.resource_name, "kube-scheduler");
  DefaultTo(config.resource_namespace, "kube-system");
}

void SetDefaults(ClientConnectionConfiguration& config) {
  DefaultTo(config.content_type, "application/vnd.kubernetes.protobuf");
  if (config.qps == 0) config.qps = 50;
  if (config.burst == 0) config.burst = 100;
}

std::set<std::string> EnabledNames(const Plugins& plugins) {
  std::set<std::string> names;
  for (const Plugin& plugin : plugins.multi_point.enabled) names.insert(plugin.name);
  // As in kube-scheduler, which forgot the last one.
  for (size_t i = 0; i < Index(ExtensionPoint::kPodGroupPostFilter); ++i) {
    for (const Plugin& plugin : SetOf(plugins, static_cast<ExtensionPoint>(i)).enabled) {
      names.insert(plugin.name);
    }
  }
  return names;
}

// Every enabled plugin that takes arguments gets an entry.
void SetDefaults(KubeSchedulerProfile& profile, const Behaviour& behaviour) {
  profile.plugins = MergePlugins(DefaultPlugins(behaviour), profile.plugins);
  if (behaviour.placement_points) {
    if (!profile.plugins.placement_generate) profile.plugins.placement_generate.emplace();
    if (!profile.plugins.placement_score) profile.plugins.placement_score.emplace();
  }
  if (behaviour.pod_group_post_filter_point && !profile.plugins.pod_group_post_filter) {
    profile.plugins.pod_group_post_filter.emplace();
  }
  std::set<std::string> configured;
  for (PluginConfig& entry : profile.plugin_config) {
    configured.insert(entry.name);
    SetArgsDefaults(entry.args, behaviour);
  }
  for (const std::string& name : EnabledNames(profile.plugins)) {
    if (configured.contains(name)) continue;
    PluginArgs args = DefaultArgsOf(name, behaviour);
    if (std::holds_alternative<std::monostate>(args)) continue;
    profile.plugin_config.push_back({name, {}, std::move(args)});
  }
}

}  // namespace

void SetDefaults(KubeSchedulerConfiguration& config, const Given& given,
                 const Behaviour& behaviour) {
  if (config.profiles.empty()) config.profiles.emplace_back();
  if (config.profiles.size() == 1 && !given.first_scheduler_name) {
    config.profiles[0].scheduler_name = kDefaultSchedulerName;
  }
  for (KubeSchedulerProfile& profile : config.profiles) SetDefaults(profile, behaviour);
  SetDefaults(config.leader_election);
  SetDefaults(config.client_connection);
  if (!config.percentage_of_nodes_to_score) config.percentage_of_nodes_to_score = 0;
  if (!given.enable_contention_profiling) {
    config.enable_contention_profiling = config.enable_profiling;
  }
}

KubeSchedulerConfiguration Default(const Behaviour& behaviour) {
  KubeSchedulerConfiguration config;
  SetDefaults(config, {}, behaviour);
  return config;
}

}  // namespace berth::config

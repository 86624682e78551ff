// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as C++ values, in Kubernetes'
// vocabulary.
//
// A default-constructed value holds what v1 means by an absent field: pointers that v1 defaults are
// plain values that start with the default. What v1 derives from other fields is filled in by
// SetDefaults().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/time.h"
#include "api/values.h"
#include "config/plugin_args.h"

namespace berth::config {

inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

struct LeaderElectionConfiguration {
  bool leader_elect = true;
  api::Duration lease_duration;
  api::Duration renew_deadline;
  api::Duration retry_period;
  std::string resource_lock;
  std::string resource_name;
  std::string resource_namespace;

  bool operator==(const LeaderElectionConfiguration&) const = default;
  static const api::TypeInfo& Type();
};

struct ClientConnectionConfiguration {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type;
  double qps = 0;  // the shortest decimal of a float32
  int32_t burst = 0;

  bool operator==(const ClientConnectionConfiguration&) const = default;
  static const api::TypeInfo& Type();
};

struct Plugin {
  std::string name;
  int32_t weight = 0;  // for Score; 0 stands for 1

  bool operator==(const Plugin&) const = default;
  static const api::TypeInfo& Type();
};

struct PluginSet {
  std::vector<Plugin> enabled;
  std::vector<Plugin> disabled;  // "*" disables all defaults

  bool operator==(const PluginSet&) const = default;
  static const api::TypeInfo& Type();
};

// The plugins of one profile, per extension point; multi_point stands for all points a plugin
// implements.
struct Plugins {
  PluginSet pre_enqueue;
  PluginSet queue_sort;
  PluginSet pre_filter;
  PluginSet filter;
  PluginSet post_filter;
  PluginSet pre_score;
  PluginSet score;
  PluginSet reserve;
  PluginSet permit;
  PluginSet pre_bind;
  PluginSet bind;
  PluginSet post_bind;
  PluginSet multi_point;
  // Points for pod groups; absent in minors that do not have them.
  std::optional<PluginSet> placement_generate;
  std::optional<PluginSet> placement_score;
  std::optional<PluginSet> pod_group_post_filter;

  bool operator==(const Plugins&) const = default;
  static const api::TypeInfo& Type();
};

// The arguments of one plugin: typed for plugins that have an argument type, as JSON for all
// others.
struct PluginConfig {
  std::string name;
  api::RawJson raw;  // of plugins without an argument type; empty: none given
  PluginArgs args;   // std::monostate for those

  bool operator==(const PluginConfig&) const = default;
  static const api::TypeInfo& Type();
};

struct KubeSchedulerProfile {
  std::string scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;  // wins over the configuration's
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;

  bool operator==(const KubeSchedulerProfile&) const = default;
  static const api::TypeInfo& Type();
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;

  bool operator==(const ExtenderManagedResource&) const = default;
  static const api::TypeInfo& Type();
};

struct ExtenderTLSConfig {
  bool insecure = false;
  std::string server_name;
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  api::Bytes cert_data;
  api::Bytes key_data;
  api::Bytes ca_data;

  bool operator==(const ExtenderTLSConfig&) const = default;
  static const api::TypeInfo& Type();
};

struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTLSConfig> tls_config;
  api::Duration http_timeout;  // zero: 5s
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;

  bool operator==(const Extender&) const = default;
  static const api::TypeInfo& Type();
};

struct KubeSchedulerConfiguration {
  int32_t parallelism = 16;
  LeaderElectionConfiguration leader_election;
  ClientConnectionConfiguration client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::optional<int32_t> percentage_of_nodes_to_score = 0;  // 0: adaptive
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<KubeSchedulerProfile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;

  bool operator==(const KubeSchedulerConfiguration&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config

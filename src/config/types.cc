#include "config/types.h"

#include "config/config.h"

namespace berth::config {

using api::Describe;
using api::TypeInfo;

const TypeInfo& LeaderElectionConfiguration::Type() {
  using T = LeaderElectionConfiguration;
  static const TypeInfo type = Describe<T>("LeaderElectionConfiguration")
                                   .Always(0, "leaderElect", &T::leader_elect)
                                   .Always(0, "leaseDuration", &T::lease_duration)
                                   .Always(0, "renewDeadline", &T::renew_deadline)
                                   .Always(0, "retryPeriod", &T::retry_period)
                                   .Always(0, "resourceLock", &T::resource_lock)
                                   .Always(0, "resourceName", &T::resource_name)
                                   .Always(0, "resourceNamespace", &T::resource_namespace)
                                   .Build();
  return type;
}

const TypeInfo& ClientConnectionConfiguration::Type() {
  using T = ClientConnectionConfiguration;
  static const TypeInfo type = Describe<T>("ClientConnectionConfiguration")
                                   .Always(0, "kubeconfig", &T::kubeconfig)
                                   .Always(0, "acceptContentTypes", &T::accept_content_types)
                                   .Always(0, "contentType", &T::content_type)
                                   .Always(0, "qps", &T::qps)
                                   .Always(0, "burst", &T::burst)
                                   .Build();
  return type;
}

const TypeInfo& Plugin::Type() {
  static const TypeInfo type = Describe<Plugin>("Plugin")
                                   .Always(0, "name", &Plugin::name)
                                   .Always(0, "weight", &Plugin::weight)
                                   .Build();
  return type;
}

const TypeInfo& PluginSet::Type() {
  static const TypeInfo type = Describe<PluginSet>("PluginSet")
                                   .Field(0, "enabled", &PluginSet::enabled)
                                   .Field(0, "disabled", &PluginSet::disabled)
                                   .Build();
  return type;
}

const TypeInfo& Plugins::Type() {
  static const TypeInfo type = Describe<Plugins>("Plugins")
                                   .Always(0, "preEnqueue", &Plugins::pre_enqueue)
                                   .Always(0, "queueSort", &Plugins::queue_sort)
                                   .Always(0, "preFilter", &Plugins::pre_filter)
                                   .Always(0, "filter", &Plugins::filter)
                                   .Always(0, "postFilter", &Plugins::post_filter)
                                   .Always(0, "preScore", &Plugins::pre_score)
                                   .Always(0, "score", &Plugins::score)
                                   .Always(0, "reserve", &Plugins::reserve)
                                   .Always(0, "permit", &Plugins::permit)
                                   .Always(0, "preBind", &Plugins::pre_bind)
                                   .Always(0, "bind", &Plugins::bind)
                                   .Always(0, "postBind", &Plugins::post_bind)
                                   .Always(0, "multiPoint", &Plugins::multi_point)
                                   .Field(0, "placementGenerate", &Plugins::placement_generate)
                                   .Field(0, "placementScore", &Plugins::placement_score)
                                   .Field(0, "podGroupPostFilter", &Plugins::pod_group_post_filter)
                                   .Build();
  return type;
}

const TypeInfo& PluginConfig::Type() {
  static const TypeInfo type = Describe<PluginConfig>("PluginConfig")
                                   .Always(0, "name", &PluginConfig::name)
                                   .Always(0, "args", &PluginConfig::raw)
                                   .Build();
  return type;
}

const TypeInfo& KubeSchedulerProfile::Type() {
  using T = KubeSchedulerProfile;
  static const TypeInfo type =
      Describe<T>("KubeSchedulerProfile")
          .Always(0, "schedulerName", &T::scheduler_name)
          .Field(0, "percentageOfNodesToScore", &T::percentage_of_nodes_to_score)
          .Always(0, "plugins", &T::plugins)
          .Field(0, "pluginConfig", &T::plugin_config)
          .Build();
  return type;
}

const TypeInfo& ExtenderManagedResource::Type() {
  using T = ExtenderManagedResource;
  static const TypeInfo type = Describe<T>("ExtenderManagedResource")
                                   .Always(0, "name", &T::name)
                                   .Field(0, "ignoredByScheduler", &T::ignored_by_scheduler)
                                   .Build();
  return type;
}

const TypeInfo& ExtenderTLSConfig::Type() {
  using T = ExtenderTLSConfig;
  static const TypeInfo type = Describe<T>("ExtenderTLSConfig")
                                   .Field(0, "insecure", &T::insecure)
                                   .Field(0, "serverName", &T::server_name)
                                   .Field(0, "certFile", &T::cert_file)
                                   .Field(0, "keyFile", &T::key_file)
                                   .Field(0, "caFile", &T::ca_file)
                                   .Field(0, "certData", &T::cert_data)
                                   .Field(0, "keyData", &T::key_data)
                                   .Field(0, "caData", &T::ca_data)
                                   .Build();
  return type;
}

const TypeInfo& Extender::Type() {
  static const TypeInfo type = Describe<Extender>("Extender")
                                   .Always(0, "urlPrefix", &Extender::url_prefix)
                                   .Field(0, "filterVerb", &Extender::filter_verb)
                                   .Field(0, "preemptVerb", &Extender::preempt_verb)
                                   .Field(0, "prioritizeVerb", &Extender::prioritize_verb)
                                   .Field(0, "weight", &Extender::weight)
                                   .Field(0, "bindVerb", &Extender::bind_verb)
                                   .Field(0, "enableHTTPS", &Extender::enable_https)
                                   .Field(0, "tlsConfig", &Extender::tls_config)
                                   .Always(0, "httpTimeout", &Extender::http_timeout)
                                   .Field(0, "nodeCacheCapable", &Extender::node_cache_capable)
                                   .Field(0, "managedResources", &Extender::managed_resources)
                                   .Field(0, "ignorable", &Extender::ignorable)
                                   .Build();
  return type;
}

const TypeInfo& KubeSchedulerConfiguration::Type() {
  using T = KubeSchedulerConfiguration;
  static const TypeInfo type =
      Describe<T>(kKind)
          .Object(kApiVersion, kKind)
          .Always(0, "parallelism", &T::parallelism)
          .Always(0, "leaderElection", &T::leader_election)
          .Always(0, "clientConnection", &T::client_connection)
          .Always(0, "enableProfiling", &T::enable_profiling)
          .Always(0, "enableContentionProfiling", &T::enable_contention_profiling)
          .Field(0, "percentageOfNodesToScore", &T::percentage_of_nodes_to_score)
          .Always(0, "podInitialBackoffSeconds", &T::pod_initial_backoff_seconds)
          .Always(0, "podMaxBackoffSeconds", &T::pod_max_backoff_seconds)
          .Field(0, "profiles", &T::profiles)
          .Field(0, "extenders", &T::extenders)
          .Field(0, "delayCacheUntilActive", &T::delay_cache_until_active)
          .Build();
  return type;
}

}  // namespace berth::config

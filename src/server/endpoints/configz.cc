#include "server/endpoints/configz.h"

#include <utility>
#include <variant>

#include "api/codec/base64.h"
#include "api/codec/json.h"
#include "api/go/go_text.h"
#include "config/config.h"
#include "config/default_plugins.h"

namespace berth::server {
namespace {

using namespace config;  // NOLINT: nearly every name here is of the configuration

// Writes JSON in the order of the calls.
class Writer {
 public:
  Writer() = default;
  explicit Writer(const Behaviour& behaviour) : binding_timeout_(behaviour.binding_timeout_arg) {}

  // Does the release have DynamicResourcesArgs.BindingTimeout?
  bool HasBindingTimeout() const { return binding_timeout_; }

  void Key(std::string_view name) {
    Comma();
    api::AppendJsonString(out_, name);
    out_ += ':';
    after_key_ = true;
  }
  void String(std::string_view value) {
    Comma();
    api::AppendJsonString(out_, value);
  }
  void Number(int64_t value) { Raw(std::to_string(value)); }
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  void Null() { Raw("null"); }
  void Raw(std::string_view json) {
    Comma();
    out_ += json;
  }
  void Open(char bracket) {
    Comma();
    out_ += bracket;
    first_ = true;
  }
  void Close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  void Field(std::string_view name, std::string_view value) {
    Key(name);
    String(value);
  }
  void Field(std::string_view name, const std::string& value) {
    Field(name, std::string_view(value));
  }
  void Field(std::string_view name, const char* value) { Field(name, std::string_view(value)); }
  void Field(std::string_view name, bool value) {
    Key(name);
    Bool(value);
  }
  void Field(std::string_view name, int64_t value) {
    Key(name);
    Number(value);
  }
  void Field(std::string_view name, int32_t value) { Field(name, static_cast<int64_t>(value)); }
  void Field(std::string_view name, const api::Duration& value) { Field(name, value.Format()); }

  // A list; an empty one is Go's nil.
  template <class T, class Fn>
  void List(std::string_view name, const std::vector<T>& items, Fn&& write) {
    Key(name);
    if (items.empty()) return Null();
    Open('[');
    for (const T& item : items) write(item);
    Close(']');
  }

  std::string Take() { return std::move(out_); }

 private:
  void Comma() {
    if (after_key_) {
      after_key_ = false;
    } else if (!first_) {
      out_ += ',';
    }
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
  bool after_key_ = false;
  bool binding_timeout_ = false;
};

template <class T>
void Encoded(Writer& w, const T& value) {
  w.Raw(api::ToJson(value));
}

void Strings(Writer& w, std::string_view name, const std::vector<std::string>& items) {
  w.List(name, items, [&](const std::string& item) { w.String(item); });
}

void Resources(Writer& w, const std::vector<ResourceSpec>& resources) {
  w.List("Resources", resources, [&](const ResourceSpec& resource) {
    w.Open('{');
    w.Field("Name", resource.name);
    w.Field("Weight", resource.weight);
    w.Close('}');
  });
}

void Shape(Writer& w, const std::vector<UtilizationShapePoint>& shape) {
  w.List("Shape", shape, [&](const UtilizationShapePoint& point) {
    w.Open('{');
    w.Field("Utilization", point.utilization);
    w.Field("Score", point.score);
    w.Close('}');
  });
}

void Args(Writer& w, const DefaultPreemptionArgs& args) {
  w.Field("MinCandidateNodesPercentage", args.min_candidate_nodes_percentage);
  w.Field("MinCandidateNodesAbsolute", args.min_candidate_nodes_absolute);
}
void Args(Writer& w, const DynamicResourcesArgs& args) {
  w.Key("FilterTimeout");
  args.filter_timeout ? w.String(args.filter_timeout->Format()) : w.Null();
  if (!w.HasBindingTimeout()) return;
  w.Key("BindingTimeout");
  args.binding_timeout ? w.String(args.binding_timeout->Format()) : w.Null();
}
void Args(Writer& w, const InterPodAffinityArgs& args) {
  w.Field("HardPodAffinityWeight", args.hard_pod_affinity_weight);
  w.Field("IgnorePreferredTermsOfExistingPods", args.ignore_preferred_terms_of_existing_pods);
}
void Args(Writer& w, const NodeAffinityArgs& args) {
  w.Key("AddedAffinity");
  args.added_affinity ? Encoded(w, *args.added_affinity) : w.Null();
}
void Args(Writer& w, const NodeResourcesBalancedAllocationArgs& args) {
  Resources(w, args.resources);
}
void Args(Writer& w, const NodeResourcesFitArgs& args) {
  Strings(w, "IgnoredResources", args.ignored_resources);
  Strings(w, "IgnoredResourceGroups", args.ignored_resource_groups);
  w.Key("ScoringStrategy");
  if (!args.scoring_strategy) return w.Null();
  const ScoringStrategy& strategy = *args.scoring_strategy;
  w.Open('{');
  w.Field("Type", strategy.type);
  Resources(w, strategy.resources);
  w.Key("RequestedToCapacityRatio");
  if (strategy.requested_to_capacity_ratio) {
    w.Open('{');
    Shape(w, strategy.requested_to_capacity_ratio->shape);
    w.Close('}');
  } else {
    w.Null();
  }
  w.Close('}');
}
void Args(Writer& w, const PodTopologySpreadArgs& args) {
  w.List("DefaultConstraints", args.default_constraints,
         [&](const api::TopologySpreadConstraint& constraint) { Encoded(w, constraint); });
  w.Field("DefaultingType", args.defaulting_type);
}
void Args(Writer& w, const VolumeBindingArgs& args) {
  w.Field("BindTimeoutSeconds", args.bind_timeout_seconds);
  Shape(w, args.shape ? *args.shape : std::vector<UtilizationShapePoint>());
}

void WritePluginConfig(Writer& w, const PluginConfig& entry) {
  w.Open('{');
  w.Field("Name", entry.name);
  w.Key("Args");
  std::visit(
      [&](const auto& args) {
        if constexpr (std::is_same_v<std::decay_t<decltype(args)>, std::monostate>) {
          entry.raw.text.empty() ? w.Null() : w.Raw(entry.raw.text);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(args)>, OwnArgs>) {
          std::string text;
          api::EncodeJson(args.row().type(), args.data(), text);
          w.Raw(text);
        } else {
          w.Open('{');
          Args(w, args);
          w.Close('}');
        }
      },
      entry.args);
  w.Close('}');
}

void WritePluginSet(Writer& w, std::string_view name, const PluginSet& set) {
  const auto write = [&](const Plugin& plugin) {
    w.Open('{');
    w.Field("Name", plugin.name);
    w.Field("Weight", plugin.weight);
    w.Close('}');
  };
  w.Key(name);
  w.Open('{');
  w.List("Enabled", set.enabled, write);
  w.List("Disabled", set.disabled, write);
  w.Close('}');
}

void WriteProfile(Writer& w, const KubeSchedulerProfile& profile) {
  w.Open('{');
  w.Field("SchedulerName", profile.scheduler_name);
  w.Key("PercentageOfNodesToScore");
  profile.percentage_of_nodes_to_score ? w.Number(*profile.percentage_of_nodes_to_score) : w.Null();
  w.Key("Plugins");
  w.Open('{');
  const Plugins& plugins = profile.plugins;
  WritePluginSet(w, "PreEnqueue", plugins.pre_enqueue);
  WritePluginSet(w, "QueueSort", plugins.queue_sort);
  WritePluginSet(w, "PreFilter", plugins.pre_filter);
  WritePluginSet(w, "Filter", plugins.filter);
  WritePluginSet(w, "PostFilter", plugins.post_filter);
  WritePluginSet(w, "PreScore", plugins.pre_score);
  WritePluginSet(w, "Score", plugins.score);
  WritePluginSet(w, "Reserve", plugins.reserve);
  WritePluginSet(w, "Permit", plugins.permit);
  WritePluginSet(w, "PreBind", plugins.pre_bind);
  WritePluginSet(w, "Bind", plugins.bind);
  WritePluginSet(w, "PostBind", plugins.post_bind);
  WritePluginSet(w, "MultiPoint", plugins.multi_point);
  w.Close('}');
  w.List("PluginConfig", profile.plugin_config,
         [&](const PluginConfig& entry) { WritePluginConfig(w, entry); });
  w.Close('}');
}

void WriteBytes(Writer& w, std::string_view name, const api::Bytes& bytes) {
  w.Key(name);
  if (bytes.data.empty()) return w.Null();
  std::string text;
  api::AppendBase64(text, bytes.data);
  w.String(text);
}

void WriteExtender(Writer& w, const Extender& extender) {
  w.Open('{');
  w.Field("URLPrefix", extender.url_prefix);
  w.Field("FilterVerb", extender.filter_verb);
  w.Field("PreemptVerb", extender.preempt_verb);
  w.Field("PrioritizeVerb", extender.prioritize_verb);
  w.Field("Weight", extender.weight);
  w.Field("BindVerb", extender.bind_verb);
  w.Field("EnableHTTPS", extender.enable_https);
  w.Key("TLSConfig");
  if (extender.tls_config) {
    const ExtenderTLSConfig& tls = *extender.tls_config;
    w.Open('{');
    w.Field("Insecure", tls.insecure);
    w.Field("ServerName", tls.server_name);
    w.Field("CertFile", tls.cert_file);
    w.Field("KeyFile", tls.key_file);
    w.Field("CAFile", tls.ca_file);
    WriteBytes(w, "CertData", tls.cert_data);
    WriteBytes(w, "KeyData", {});
    WriteBytes(w, "CAData", tls.ca_data);
    w.Close('}');
  } else {
    w.Null();
  }
  w.Field("HTTPTimeout", extender.http_timeout);
  w.Field("NodeCacheCapable", extender.node_cache_capable);
  w.List("ManagedResources", extender.managed_resources,
         [&](const ExtenderManagedResource& resource) {
           w.Open('{');
           w.Field("Name", resource.name);
           w.Field("IgnoredByScheduler", resource.ignored_by_scheduler);
           w.Close('}');
         });
  w.Field("Ignorable", extender.ignorable);
  w.Close('}');
}

void WriteLeaderElection(Writer& w, const LeaderElectionConfiguration& election) {
  w.Key("LeaderElection");
  w.Open('{');
  w.Field("LeaderElect", election.leader_elect);
  w.Field("LeaseDuration", election.lease_duration);
  w.Field("RenewDeadline", election.renew_deadline);
  w.Field("RetryPeriod", election.retry_period);
  w.Field("ResourceLock", election.resource_lock);
  w.Field("ResourceName", election.resource_name);
  w.Field("ResourceNamespace", election.resource_namespace);
  w.Close('}');
}

void WriteClientConnection(Writer& w, const ClientConnectionConfiguration& connection) {
  w.Key("ClientConnection");
  w.Open('{');
  w.Field("Kubeconfig", connection.kubeconfig);
  w.Field("AcceptContentTypes", connection.accept_content_types);
  w.Field("ContentType", connection.content_type);
  std::string qps;
  api::AppendJsonNumber(qps, connection.qps, 32);
  w.Key("QPS");
  w.Raw(qps);
  w.Field("Burst", connection.burst);
  w.Close('}');
}

// The types of the configuration file, which 1.36 and later show.
std::string VersionedText(KubeSchedulerConfiguration config) {
  for (Extender& extender : config.extenders) {
    if (extender.tls_config) extender.tls_config->key_data = {};
  }
  return "{\"componentconfig\":" + ToJson(config) + "}";
}

}  // namespace

std::string ConfigzText(const KubeSchedulerConfiguration& config, const Behaviour& behaviour) {
  if (behaviour.configz_v1) return VersionedText(config);
  Writer w(behaviour);
  w.Open('{');
  w.Key("componentconfig");
  w.Open('{');
  w.Field("apiVersion", kApiVersion);
  w.Field("Parallelism", config.parallelism);
  WriteLeaderElection(w, config.leader_election);
  WriteClientConnection(w, config.client_connection);
  w.Field("EnableProfiling", config.enable_profiling);
  w.Field("EnableContentionProfiling", config.enable_contention_profiling);
  w.Key("PercentageOfNodesToScore");
  config.percentage_of_nodes_to_score ? w.Number(*config.percentage_of_nodes_to_score) : w.Null();
  w.Field("PodInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  w.Field("PodMaxBackoffSeconds", config.pod_max_backoff_seconds);
  w.List("Profiles", config.profiles,
         [&](const KubeSchedulerProfile& profile) { WriteProfile(w, profile); });
  w.List("Extenders", config.extenders,
         [&](const Extender& extender) { WriteExtender(w, extender); });
  w.Field("DelayCacheUntilActive", config.delay_cache_until_active);
  w.Close('}');
  w.Close('}');
  return w.Take();
}

std::string ExtenderText(const Extender& extender) {
  Writer w;
  WriteExtender(w, extender);
  return w.Take();
}

}  // namespace berth::server

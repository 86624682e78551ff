// Validate(): all that is wrong with a configuration at once, in kube-scheduler's order and words.
#include <map>
#include <set>

#include "config/args_validation.h"
#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {
namespace {

void CheckLeaderElection(const LeaderElectionConfiguration& config, FieldErrors& errors) {
  if (!config.leader_elect) return;
  const auto positive = [&](std::string_view name, api::Duration value) {
    if (value.ns > 0) return;
    errors.push_back(api::InvalidString(Child("leaderElection", name), value.Format(),
                                        "must be greater than zero"));
  };
  positive("leaseDuration", config.lease_duration);
  positive("renewDeadline", config.renew_deadline);
  positive("retryPeriod", config.retry_period);
  if (config.lease_duration.ns <= config.renew_deadline.ns) {
    errors.push_back(api::InvalidString("leaderElection.leaseDuration",
                                        config.renew_deadline.Format(),
                                        "must be greater than `RenewDeadline`"));
  }
  const auto required = [&](std::string_view name, const std::string& value) {
    if (value.empty()) errors.push_back(Required(Child("leaderElection", name)));
  };
  required("resourceLock", config.resource_lock);
  required("resourceNamespace", config.resource_namespace);
  required("resourceName", config.resource_name);
  if (config.resource_lock != "leases") {
    errors.push_back(api::InvalidString("leaderElection.resourceLock", config.resource_lock,
                                        "resourceLock value must be \"leases\""));
  }
}

void CheckPercentage(const std::string& path, std::optional<int32_t> percentage,
                     FieldErrors& errors) {
  if (percentage && (*percentage < 0 || *percentage > 100)) {
    errors.push_back(Invalid(path, *percentage, "not in valid range [0-100]"));
  }
}

bool WasRemoved(std::string_view plugin) {
  return plugin == "AzureDiskLimits" || plugin == "CinderLimits" || plugin == "EBSLimits" ||
         plugin == "GCEPDLimits";
}

std::string Removed(std::string_view path, std::string_view plugin, std::string_view api_version) {
  return api::InvalidString(
      path, plugin,
      fmt::format("was invalid in version \"v1\" (KubeSchedulerConfiguration is version {})",
                  api::GoQuote(api_version)));
}

void CheckPlugins(const std::string& path, const Behaviour& behaviour, std::string_view api_version,
                  const Plugins& plugins, FieldErrors& errors) {
  for (const ExtensionPoint point : PointsOf(behaviour)) {
    // As in kube-scheduler, which forgot these.
    if (point == ExtensionPoint::kPlacementGenerate || point == ExtensionPoint::kPlacementScore) {
      continue;
    }
    const std::vector<Plugin>& enabled = SetOf(plugins, point).enabled;
    for (size_t j = 0; j < enabled.size(); ++j) {
      if (!WasRemoved(enabled[j].name)) continue;
      const std::string item = Item(Child(Child(path, FieldName(point)), "enabled"), j);
      errors.push_back(Removed(item, enabled[j].name, api_version));
    }
  }
}

void CheckProfile(const std::string& path, const Behaviour& behaviour, std::string_view api_version,
                  const KubeSchedulerProfile& profile, FieldErrors& errors) {
  if (profile.scheduler_name.empty()) errors.push_back(Required(Child(path, "schedulerName")));
  CheckPercentage(Child(path, "percentageOfNodesToScore"), profile.percentage_of_nodes_to_score,
                  errors);
  CheckPlugins(Child(path, "plugins"), behaviour, api_version, profile.plugins, errors);
  std::set<std::string_view> seen;
  for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const PluginConfig& entry = profile.plugin_config[i];
    const std::string item = Item(Child(path, "pluginConfig"), i);
    if (!seen.insert(entry.name).second) errors.push_back(Duplicate(item, entry.name));
    if (WasRemoved(entry.name)) {
      errors.push_back(Removed(item, entry.name, api_version));
    } else if (entry.name == "NodeResourcesFitArgs") {
      // The check of NodeResourcesFit's arguments is registered under this name, where they never
      // are.
      errors.push_back(Invalid(Child(item, "args"),
                               entry.raw.text.empty() ? "null" : entry.raw.text,
                               "has to match plugin args"));
    } else {
      ValidateArgs(Child(item, "args"), entry.args, behaviour, errors);
    }
  }
}

std::string InternalJson(const std::vector<Plugin>& plugins) {
  if (plugins.empty()) return "null";
  std::vector<std::string> items;
  for (const Plugin& plugin : plugins) {
    std::string name;
    api::AppendJsonString(name, plugin.name);
    items.push_back(fmt::format("{{\"Name\":{},\"Weight\":{}}}", name, plugin.weight));
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

// All profiles share one queue, so they must sort it alike.
void CheckQueueSort(const std::vector<KubeSchedulerProfile>& profiles, FieldErrors& errors) {
  const PluginSet& first = profiles[0].plugins.queue_sort;
  const std::string name = first.enabled.empty() ? "" : first.enabled[0].name;
  if (first.enabled.size() > 1) {
    errors.push_back(Invalid("profiles[0].plugins.queueSort.Enabled", first.enabled.size(),
                             "only one queue sort plugin can be enabled"));
  }
  const PluginConfig* first_args = nullptr;
  for (const PluginConfig& entry : profiles[0].plugin_config) {
    if (!name.empty() && entry.name == name) first_args = &entry;
  }
  for (size_t i = 1; i < profiles.size(); ++i) {
    const PluginSet& current = profiles[i].plugins.queue_sort;
    const std::string path = Item("profiles", i);
    if (current != first) {
      errors.push_back(
          Invalid(Child(path, "plugins.queueSort"),
                  fmt::format("{{\"Enabled\":{},\"Disabled\":{}}}", InternalJson(current.enabled),
                              InternalJson(current.disabled)),
                  "must be the same for all profiles"));
    }
    for (const PluginConfig& entry : profiles[i].plugin_config) {
      if (entry.name != name || (first_args != nullptr && *first_args == entry)) continue;
      errors.push_back(Invalid(Child(path, "pluginConfig.args"),
                               entry.raw.text.empty() ? "null" : entry.raw.text,
                               "queueSort must be the same for all profiles"));
    }
  }
}

void CheckProfiles(const KubeSchedulerConfiguration& config, const Behaviour& behaviour,
                   std::string_view api_version, FieldErrors& errors) {
  if (config.profiles.empty()) {
    errors.push_back(Required("profiles"));
    return;
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < config.profiles.size(); ++i) {
    const std::string path = Item("profiles", i);
    CheckProfile(path, behaviour, api_version, config.profiles[i], errors);
    if (!names.insert(config.profiles[i].scheduler_name).second) {
      errors.push_back(Child(path, "schedulerName") + ": Duplicate value: {}");
    }
  }
  CheckQueueSort(config.profiles, errors);
}

// Whether a pod may request it by this name: it has a domain that is not Kubernetes' own.
bool IsExtendedResourceName(const std::string& name) {
  const bool native =
      name.find('/') == std::string::npos || name.find("kubernetes.io/") != std::string::npos;
  return !native && !name.starts_with("requests.") && api::IsQualifiedName("requests." + name);
}

void CheckManagedResource(const std::string& path, const std::string& name,
                          const Behaviour& behaviour, FieldErrors& errors) {
  const size_t before = errors.size();
  CheckLabelName(path, name, behaviour, errors);
  if (errors.size() == before && !IsExtendedResourceName(name)) {
    errors.push_back(api::InvalidString(path, name, "is an invalid extended resource name"));
  }
}

void CheckExtenders(const std::vector<Extender>& extenders, const Behaviour& behaviour,
                    FieldErrors& errors) {
  size_t binders = 0;
  std::set<std::string_view> resources;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const std::string path = Item("extenders", i);
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      errors.push_back(Invalid(Child(path, "weight"), extender.weight,
                               "must have a positive weight applied to it"));
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string name_path = Child(Item(Child(path, "managedResources"), j), "name");
      CheckManagedResource(name_path, name, behaviour, errors);
      if (!resources.insert(name).second) {
        errors.push_back(
            api::InvalidString(name_path, name, "duplicate extender managed resource name"));
      }
    }
  }
  if (binders > 1) {
    errors.push_back(api::InvalidString(
        "extenders", fmt::format("found {} extenders implementing bind", binders),
        "only one extender can implement bind"));
  }
}

}  // namespace

Result<void> Validate(const KubeSchedulerConfiguration& config, const Behaviour& behaviour,
                      std::string_view api_version) {
  FieldErrors errors;
  if (config.client_connection.burst < 0) {
    errors.push_back(
        Invalid("clientConnection.burst", config.client_connection.burst, "must be non-negative"));
  }
  CheckLeaderElection(config.leader_election, errors);
  if (config.parallelism <= 0) {
    errors.push_back(
        Invalid("parallelism", config.parallelism, "should be an integer value greater than zero"));
  }
  CheckProfiles(config, behaviour, api_version, errors);
  CheckPercentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score, errors);
  if (config.pod_initial_backoff_seconds <= 0) {
    errors.push_back(Invalid("podInitialBackoffSeconds", config.pod_initial_backoff_seconds,
                             "must be greater than 0"));
  }
  if (config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds) {
    errors.push_back(Invalid("podMaxBackoffSeconds", config.pod_max_backoff_seconds,
                             "must be greater than or equal to PodInitialBackoffSeconds"));
  }
  CheckExtenders(config.extenders, behaviour, errors);
  if (errors.empty()) return {};
  return Fail(api::JoinErrors(errors));
}

}  // namespace berth::config

#include "scheduler/engine/pod_signature.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "api/codec/json.h"
#include "config/minor_rules.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/node_declared_features/node_declared_features.h"

namespace berth::scheduler {
namespace {

// Parts of a pod. Those from kNoClaims on must be absent.
enum Part : uint32_t {
  kRequests = 1u << 0,
  kVolumes = 1u << 1,
  kTolerations = 1u << 2,
  kLabels = 1u << 3,
  kPorts = 1u << 4,
  kNodeAffinity = 1u << 5,
  kNodeName = 1u << 6,
  kImages = 1u << 7,
  kFeatures = 1u << 8,
  kNoClaims = 1u << 9,
  kNoAffinity = 1u << 10,
  kNoSpread = 1u << 11,
};

struct Row {
  std::string_view plugin;
  uint32_t reads;
};

// The plugins of kube-scheduler that can sign. All others that filter or score cannot.
constexpr std::array kRows{
    Row{"DynamicResources", kNoClaims},
    Row{"ImageLocality", kImages},
    Row{"InterPodAffinity", kNoAffinity | kLabels},
    Row{"NodeAffinity", kNodeAffinity},
    Row{"NodeDeclaredFeatures", kFeatures},
    Row{"NodeName", kNodeName},
    Row{"NodePorts", kPorts},
    Row{"NodeResourcesBalancedAllocation", kRequests},
    Row{"NodeResourcesFit", kRequests},
    Row{"NodeUnschedulable", kTolerations},
    Row{"NodeVolumeLimits", kVolumes},
    Row{"PodTopologySpread", kNoSpread},
    Row{"TaintToleration", kTolerations},
    Row{"VolumeBinding", kVolumes},
    Row{"VolumeRestrictions", kVolumes},
    Row{"VolumeZone", kVolumes},
};

// The arguments of a plugin in the profile; null: the defaults.
template <class Args>
const Args* ArgsOf(const config::KubeSchedulerConfiguration& config, const std::string& profile,
                   std::string_view plugin) {
  for (const config::KubeSchedulerProfile& row : config.profiles) {
    if (row.scheduler_name != profile) continue;
    for (const config::PluginConfig& entry : row.plugin_config) {
      if (entry.name == plugin) return std::get_if<Args>(&entry.args);
    }
  }
  return nullptr;
}

// Texts with their lengths, so that different lists never read alike.
void Append(std::string_view text, std::string* out) {
  *out += std::to_string(text.size());
  *out += ':';
  *out += text;
}
void Append(std::vector<std::string> texts, std::string* out) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (const std::string& text : texts) Append(text, out);
  *out += ';';
}
void Append(const api::StringMap& map, std::string* out) {
  for (const auto& [key, value] : map) {
    Append(key, out);
    Append(value, out);
  }
  *out += ';';
}

void AppendRequests(const cluster::Amounts& requests, std::string* out) {
  for (const int64_t amount : {requests.cpu, requests.memory, requests.ephemeral_storage}) {
    Append(std::to_string(amount), out);
  }
  for (const auto& [resource, amount] : requests.scalars) {
    Append(std::to_string(resource), out);
    Append(std::to_string(amount), out);
  }
  *out += ';';
}

}  // namespace

PodSigner::PodSigner(const framework::Profile& profile,
                     const config::KubeSchedulerConfiguration& config)
    : behaviour_(profile.GetBehaviour()) {
  can_sign_ = behaviour_.opportunistic_batching && config.extenders.empty();
  const auto read = [&](const framework::Plugin& plugin) {
    const auto row = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const Row& r) { return r.plugin == plugin.Name(); });
    can_sign_ &= row != kRows.end();
    if (row != kRows.end()) reads_ |= row->reads;
  };
  for (const auto& served : profile.pre_filter) read(*served.plugin);
  for (const auto& served : profile.filter) read(*served.plugin);
  for (const auto& served : profile.pre_score) read(*served.plugin);
  for (const auto& served : profile.score) read(*served.plugin);

  const auto* affinity =
      ArgsOf<config::InterPodAffinityArgs>(config, profile.Name(), "InterPodAffinity");
  if (affinity != nullptr && affinity->ignore_preferred_terms_of_existing_pods) reads_ &= ~kLabels;
  const auto* spread =
      ArgsOf<config::PodTopologySpreadArgs>(config, profile.Name(), "PodTopologySpread");
  const bool constrains = spread == nullptr || spread->defaulting_type != "List" ||
                          !spread->default_constraints.empty();
  if (Reads(kNoSpread) && constrains) can_sign_ = false;
  if (Reads(kRequests) && behaviour_.dra.extended_resource &&
      config::MinorRulesOf(behaviour_).extended_resources_end_batches) {
    can_sign_ = false;
  }
}

bool PodSigner::Refuses(const cluster::Cluster& cluster, const cluster::Pod& pod) const {
  const api::PodSpec& spec = pod.shape->source.spec;
  if (Reads(kNoClaims) && !spec.resource_claims.empty()) return true;
  if (Reads(kNoSpread) && !spec.topology_spread_constraints.empty()) return true;
  if (Reads(kNoAffinity) && spec.affinity &&
      (spec.affinity->pod_affinity || spec.affinity->pod_anti_affinity)) {
    return true;
  }
  if (!Reads(kRequests) || !behaviour_.dra.extended_resource) return false;
  return !plugins::dynamic_resources::ExtendedResourcesOf(behaviour_.dra, cluster, pod)
              .of_devices.empty();
}

std::string PodSigner::Sign(const cluster::Cluster& cluster, const cluster::Pod& pod) const {
  std::string out;
  if (!can_sign_ || Refuses(cluster, pod)) return out;
  const cluster::PodShape& shape = *pod.shape;
  const api::PodSpec& spec = shape.source.spec;
  Append(spec.scheduler_name, &out);
  if (Reads(kRequests)) AppendRequests(shape.fit, &out);
  if (Reads(kLabels)) Append(shape.source.metadata.labels, &out);
  if (Reads(kNodeName)) Append(spec.node_name, &out);
  if (Reads(kTolerations)) {
    std::vector<std::string> tolerations;
    for (const api::Toleration& t : spec.tolerations) tolerations.push_back(api::ToJson(t));
    Append(std::move(tolerations), &out);
  }
  if (Reads(kVolumes)) {
    std::vector<std::string> volumes;
    for (api::Volume volume : spec.volumes) {
      if (volume.config_map || volume.secret) continue;  // a pod's own, and of no consequence
      volume.name.clear();
      volumes.push_back(api::ToJson(volume));
    }
    std::sort(volumes.begin(), volumes.end());
    for (const std::string& volume : volumes) Append(volume, &out);
    out += ';';
  }
  if (Reads(kPorts)) {
    std::vector<std::string> ports;
    for (const cluster::HostPort& port : shape.host_ports) {
      ports.push_back(std::to_string(port.port));
    }
    Append(std::move(ports), &out);
  }
  if (Reads(kImages)) {
    std::vector<std::string> images;
    for (const cluster::StringId image : shape.images) images.push_back(std::to_string(image));
    Append(std::move(images), &out);
  }
  if (Reads(kNodeAffinity)) {
    Append(spec.node_selector, &out);
    if (spec.affinity && spec.affinity->node_affinity) {
      Append(api::ToJson(*spec.affinity->node_affinity), &out);
    }
    out += ';';
  }
  if (Reads(kFeatures) && behaviour_.node_declared_features) {
    for (const std::string_view feature :
         plugins::node_declared_features::RequiredFeatures(spec, behaviour_)) {
      Append(feature, &out);
    }
  }
  return out;
}

}  // namespace berth::scheduler

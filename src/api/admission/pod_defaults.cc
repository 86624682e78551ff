// Defaults of pods and pod templates.
#include <algorithm>
#include <utility>

#include "api/admission/defaults.h"
#include "api/rules/pod_requests.h"
#include "api/rules/resource_name.h"

namespace berth::api {

namespace {

constexpr int64_t kTerminationGracePeriodSeconds = 30;
constexpr int64_t kTolerationSeconds = 300;

// The API server keeps no amounts finer than a thousandth.
void RoundToMilli(ResourceList& list) {
  // Far inside of what thousandths can count.
  static const Quantity limit = Quantity::FromInt(1'000'000'000'000'000);
  for (auto& [name, amount] : list) {
    if (amount >= limit) continue;
    Quantity rounded = Quantity::FromMilli(amount.MilliValue(), amount.format());
    if (rounded != amount) amount = std::move(rounded);
  }
}

void RoundToMilli(ResourceRequirements& resources) {
  RoundToMilli(resources.limits);
  RoundToMilli(resources.requests);
}

// Entries of `from` that `to` lacks.
void AddMissing(ResourceList& to, const ResourceList& from) { to.insert(from.begin(), from.end()); }

void SetPortDefaults(std::vector<ContainerPort>& ports) {
  for (ContainerPort& port : ports) {
    if (port.protocol.empty()) port.protocol = "TCP";
  }
}

void SetContainerDefaults(std::vector<Container>& containers) {
  for (Container& container : containers) {
    SetPortDefaults(container.ports);
    RoundToMilli(container.resources);
  }
}

void SetHostPorts(std::vector<Container>& containers) {
  for (Container& container : containers) {
    for (ContainerPort& port : container.ports) {
      if (port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

void SetVolumeDefaults(Volume& volume) {
  if (volume.rbd && volume.rbd->pool.empty()) volume.rbd->pool = "rbd";
  if (volume.iscsi && volume.iscsi->iscsi_interface.empty()) {
    volume.iscsi->iscsi_interface = "default";
  }
  if (!volume.ephemeral || !volume.ephemeral->volume_claim_template) return;
  PersistentVolumeClaimSpec& claim = volume.ephemeral->volume_claim_template->spec;
  if (!claim.volume_mode) claim.volume_mode = "Filesystem";
}

// What the containers ask for together, without the pod's own overhead and resources.
template <class F>
ResourceList OfContainers(Pod& pod, F sum) {
  ResourceList overhead = std::exchange(pod.spec.overhead, {});
  auto resources = std::exchange(pod.spec.resources, {});
  ResourceList result = sum(pod);
  pod.spec.overhead = std::move(overhead);
  pod.spec.resources = std::move(resources);
  return result;
}

// Resources of the pod as a whole, from those of its containers and from its own limits.
void SetPodLevelResources(Pod& pod) {
  if (!pod.spec.resources) return;
  if (!pod.spec.resources->limits.empty() || !pod.spec.resources->requests.empty()) {
    const ResourceList limits = OfContainers(pod, [](const Pod& p) { return PodLimits(p); });
    ResourceRequirements& whole = *pod.spec.resources;
    for (const auto& [name, amount] : limits) {
      if (IsHugePageResource(name) && !whole.requests.contains(name)) {
        whole.limits.emplace(name, amount);
      }
    }
  }
  if (pod.spec.resources->limits.empty()) return;
  const ResourceList requests = OfContainers(pod, [](const Pod& p) { return PodRequests(p); });
  ResourceRequirements& whole = *pod.spec.resources;
  for (const auto& [name, amount] : requests) {
    // Huge pages cannot be overcommitted: their request is the limit.
    if (IsPodLevelResource(name) && !IsHugePageResource(name)) whole.requests.emplace(name, amount);
  }
  for (const auto& [name, amount] : whole.limits) {
    if (IsPodLevelResource(name)) whole.requests.emplace(name, amount);
  }
}

void SetGatedCondition(Pod& pod) {
  if (pod.spec.scheduling_gates.empty()) return;
  for (const PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return;
  }
  PodCondition& gated = pod.status.conditions.emplace_back();
  gated.type = "PodScheduled";
  gated.status = "False";
  gated.reason = "SchedulingGated";
  gated.message = "Scheduling is blocked due to non-empty scheduling gates";
}

// Adds `key operator (value of the pod's label)` for every key the pod has a label for.
void AddLabelRequirements(LabelSelector& selector, const std::vector<std::string>& keys,
                          std::string_view op, const StringMap& labels) {
  for (const std::string& key : keys) {
    const auto label = labels.find(key);
    if (label == labels.end()) continue;
    LabelSelectorRequirement requirement{key, std::string(op), {label->second}};
    auto& present = selector.match_expressions;
    if (std::find(present.begin(), present.end(), requirement) == present.end()) {
      present.push_back(std::move(requirement));
    }
  }
}

void MergeTerm(PodAffinityTerm& term, const StringMap& labels) {
  // A term without selector matches nothing, whatever the keys.
  if (!term.label_selector) return;
  AddLabelRequirements(*term.label_selector, term.match_label_keys, "In", labels);
  AddLabelRequirements(*term.label_selector, term.mismatch_label_keys, "NotIn", labels);
}

template <class A>
void MergeTerms(A& affinity, const StringMap& labels) {
  if (!affinity) return;
  for (auto& term : affinity->required_during_scheduling_ignored_during_execution) {
    MergeTerm(term, labels);
  }
  for (auto& weighted : affinity->preferred_during_scheduling_ignored_during_execution) {
    MergeTerm(weighted.pod_affinity_term, labels);
  }
}

bool Tolerates(const PodSpec& spec, std::string_view taint) {
  return std::any_of(spec.tolerations.begin(), spec.tolerations.end(), [&](const Toleration& t) {
    return (t.key == taint || t.key.empty()) && (t.effect == "NoExecute" || t.effect.empty());
  });
}

}  // namespace

void SetPodSpecDefaults(PodSpec& spec) {
  if (spec.restart_policy.empty()) spec.restart_policy = "Always";
  if (!spec.termination_grace_period_seconds) {
    spec.termination_grace_period_seconds = kTerminationGracePeriodSeconds;
  }
  if (spec.scheduler_name.empty()) spec.scheduler_name = "default-scheduler";
  SetContainerDefaults(spec.init_containers);
  SetContainerDefaults(spec.containers);
  for (EphemeralContainer& container : spec.ephemeral_containers) SetPortDefaults(container.ports);
  for (Volume& volume : spec.volumes) SetVolumeDefaults(volume);
  RoundToMilli(spec.overhead);
  if (spec.resources) RoundToMilli(*spec.resources);
}

void SetDefaults(Pod& pod) {
  if (FromApiServer(pod.metadata)) return;
  if (pod.metadata.namespace_.empty()) pod.metadata.namespace_ = "default";
  if (pod.metadata.generation == 0) pod.metadata.generation = 1;
  SetPodSpecDefaults(pod.spec);
  for (Container& container : pod.spec.containers) {
    AddMissing(container.resources.requests, container.resources.limits);
  }
  for (Container& container : pod.spec.init_containers) {
    AddMissing(container.resources.requests, container.resources.limits);
  }
  SetPodLevelResources(pod);
  if (pod.spec.host_network) {
    SetHostPorts(pod.spec.containers);
    SetHostPorts(pod.spec.init_containers);
  }
  if (pod.status.phase.empty()) pod.status.phase = "Pending";
  SetGatedCondition(pod);
  MergeLabelKeys(pod);
  AddDefaultTolerations(pod);
}

void MergeLabelKeys(Pod& pod) {
  const StringMap& labels = pod.metadata.labels;
  if (pod.spec.affinity) {
    MergeTerms(pod.spec.affinity->pod_affinity, labels);
    MergeTerms(pod.spec.affinity->pod_anti_affinity, labels);
  }
  for (TopologySpreadConstraint& constraint : pod.spec.topology_spread_constraints) {
    if (!constraint.label_selector) continue;
    AddLabelRequirements(*constraint.label_selector, constraint.match_label_keys, "In", labels);
  }
}

void AddDefaultTolerations(Pod& pod) {
  for (std::string_view taint :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(pod.spec, taint)) continue;
    Toleration& toleration = pod.spec.tolerations.emplace_back();
    toleration.key = taint;
    toleration.operator_ = "Exists";
    toleration.effect = "NoExecute";
    toleration.toleration_seconds = kTolerationSeconds;
  }
}

}  // namespace berth::api

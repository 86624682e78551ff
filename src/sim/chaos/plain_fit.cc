#include "sim/chaos/plain_fit.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/rules/node_affinity.h"
#include "api/rules/toleration.h"

namespace berth::sim {
namespace {

int64_t AmountOf(const std::string& resource, const api::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

// Host ports the pod occupies. The simulation names no addresses and no protocols but TCP.
std::vector<int32_t> PortsOf(const api::Pod& pod) {
  std::vector<int32_t> ports;
  for (const api::Container& container : pod.spec.containers) {
    for (const api::ContainerPort& port : container.ports) {
      if (port.host_port > 0) ports.push_back(port.host_port);
    }
  }
  return ports;
}

std::string PortTaken(const api::Pod& pod, std::span<const api::Pod* const> others) {
  const std::vector<int32_t> wanted = PortsOf(pod);
  if (wanted.empty()) return {};
  for (const api::Pod* other : others) {
    for (const int32_t port : PortsOf(*other)) {
      if (std::find(wanted.begin(), wanted.end(), port) != wanted.end()) {
        return fmt::format("host port {} is taken", port);
      }
    }
  }
  return {};
}

bool SelectorMatches(const api::Pod& pod, const api::Node& node) {
  const api::NodeSelector* required = nullptr;
  if (pod.spec.affinity && pod.spec.affinity->node_affinity) {
    const auto& r =
        pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (r) required = &*r;
  }
  const api::RequiredNodeAffinity affinity(pod.spec.node_selector, required);
  const auto matches = affinity.Match(node.metadata.name, node.metadata.labels);
  return matches && *matches;
}

bool MatchesLabels(const api::LabelSelector& selector, const api::StringMap& labels) {
  return std::all_of(selector.match_labels.begin(), selector.match_labels.end(),
                     [&](const auto& entry) {
                       const std::string* value = api::FindValue(labels, entry.first);
                       return value != nullptr && *value == entry.second;
                     });
}

}  // namespace

PlainAmounts RequestsOf(const api::Pod& pod) {
  PlainAmounts sum;
  for (const api::Container& container : pod.spec.containers) {
    for (const auto& [name, quantity] : container.resources.requests) {
      sum[name] += AmountOf(name, quantity);
    }
  }
  return sum;
}

PlainAmounts AllocatableOf(const api::Node& node) {
  PlainAmounts amounts;
  for (const auto& [name, quantity] : node.status.allocatable) {
    amounts[name] = AmountOf(name, quantity);
  }
  return amounts;
}

std::string WhatIsShort(const api::Pod& pod, const api::Node& node,
                        std::span<const api::Pod* const> others) {
  PlainAmounts allocatable = AllocatableOf(node);
  if (static_cast<int64_t>(others.size()) + 1 > allocatable["pods"]) return "too many pods";
  PlainAmounts used;
  for (const api::Pod* other : others) {
    for (const auto& [name, amount] : RequestsOf(*other)) used[name] += amount;
  }
  for (const auto& [name, amount] : RequestsOf(pod)) {
    if (amount > 0 && amount > allocatable[name] - used[name]) {
      return fmt::format("{} is short: {} wanted, {} of {} used", name, amount, used[name],
                         allocatable[name]);
    }
  }
  return {};
}

std::string WhyNot(const api::Pod& pod, const api::Node& node,
                   std::span<const api::Pod* const> others) {
  if (node.spec.unschedulable) {
    api::Taint cordon;
    cordon.key = "node.kubernetes.io/unschedulable";
    cordon.effect = "NoSchedule";
    if (!api::Tolerates(pod.spec.tolerations, cordon)) return "the node is cordoned";
  }
  const api::Taint* taint =
      api::FirstUntolerated(node.spec.taints, pod.spec.tolerations, api::ForbidsScheduling);
  if (taint != nullptr) return fmt::format("taint {} is not tolerated", taint->key);
  if (!SelectorMatches(pod, node)) return "the node selector does not match";
  if (std::string taken = PortTaken(pod, others); !taken.empty()) return taken;
  return WhatIsShort(pod, node, others);
}

bool IsPlain(const api::Pod& pod) {
  const auto& affinity = pod.spec.affinity;
  return !(affinity && (affinity->pod_affinity || affinity->pod_anti_affinity)) &&
         pod.spec.topology_spread_constraints.empty() && pod.spec.volumes.empty() &&
         pod.spec.resource_claims.empty();
}

bool Repels(const api::Pod& other, const api::Pod& pod) {
  if (!other.spec.affinity || !other.spec.affinity->pod_anti_affinity) return false;
  if (other.metadata.namespace_ != pod.metadata.namespace_) return false;
  const auto& terms =
      other.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
  return std::any_of(terms.begin(), terms.end(), [&](const api::PodAffinityTerm& term) {
    return term.label_selector && MatchesLabels(*term.label_selector, pod.metadata.labels);
  });
}

}  // namespace berth::sim

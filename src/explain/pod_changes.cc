// Changes to a pod that may let it fit: its demands dropped or loosened, one by one.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/rules/toleration.h"
#include "explain/suggestions.h"

namespace berth::explain {
namespace {

constexpr size_t kMaxTaints = 16;
constexpr size_t kMaxExpressions = 8;
constexpr int64_t kMebi = int64_t{1} << 20;
constexpr int64_t kGibi = int64_t{1} << 30;

bool InBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

int64_t AmountOf(std::string_view resource, const api::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

api::Quantity ToQuantity(std::string_view resource, int64_t amount) {
  if (resource == "cpu") return api::Quantity::FromMilli(amount);
  return api::Quantity::FromInt(amount, InBytes(resource) ? api::Quantity::Format::kBinarySI
                                                          : api::Quantity::Format::kDecimalSI);
}

int64_t RequestOf(const api::ResourceList& list, std::string_view resource) {
  const auto it = list.find(resource);
  return it == list.end() ? 0 : AmountOf(resource, it->second);
}

void Cap(api::ResourceList& requests, std::string_view resource, int64_t amount) {
  const auto it = requests.find(resource);
  if (it == requests.end() || AmountOf(resource, it->second) <= amount) return;
  it->second = ToQuantity(resource, amount);
}

bool IsSidecar(const api::Container& container) {
  return container.restart_policy && *container.restart_policy == "Always";
}

std::string TaintText(const api::Taint& taint) {
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, taint.effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect);
}

// Set by Kubernetes for nodes that are cordoned, not ready or full: nothing to tolerate.
bool IsCondition(const api::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

// Taints of nodes that the pod does not tolerate, those of most nodes first.
void AddTolerations(const cluster::Cluster& cluster, const api::Pod& pod,
                    std::vector<PodChange>* changes) {
  std::map<cluster::TaintSetId, size_t> sets;
  cluster.Tainted().ForEach([&](cluster::NodeIndex n) { ++sets[cluster.TaintSetOf()[n]]; });
  std::map<std::tuple<std::string, std::string, std::string>, size_t> taints;
  for (const auto& [set, nodes] : sets) {
    for (const api::Taint& taint : cluster.Taints().Get(set)) {
      if (!api::ForbidsScheduling(taint) || IsCondition(taint)) continue;
      if (api::Tolerates(pod.spec.tolerations, taint)) continue;
      taints[{taint.key, taint.value, taint.effect}] += nodes;
    }
  }
  std::vector<std::pair<size_t, api::Taint>> ordered;
  for (const auto& [taint, nodes] : taints) {
    ordered.push_back({nodes, {std::get<0>(taint), std::get<1>(taint), std::get<2>(taint), {}}});
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (ordered.size() > kMaxTaints) ordered.resize(kMaxTaints);
  for (const auto& [nodes, taint] : ordered) {
    changes->push_back({"AddToleration",
                        fmt::format("it tolerated taint {}", TaintText(taint)),
                        {{"effect", taint.effect}, {"key", taint.key}, {"value", taint.value}},
                        [t = taint](api::Pod& p) {
                          p.spec.tolerations.push_back({t.key, t.value.empty() ? "Exists" : "Equal",
                                                        t.value, t.effect, std::nullopt});
                        }});
  }
}

void AddNodeSelectors(const api::Pod& pod, std::vector<PodChange>* changes) {
  for (const auto& [key, value] : pod.spec.node_selector) {
    changes->push_back({"DropNodeSelector",
                        fmt::format("its nodeSelector did not ask for {}={}", key, value),
                        {{"key", key}, {"value", value}},
                        [k = key](api::Pod& p) { p.spec.node_selector.erase(k); }});
  }
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return;
  const auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return;
  changes->push_back({"DropNodeAffinity", "it had no required node affinity", {}, [](api::Pod& p) {
                        p.spec.affinity->node_affinity
                            ->required_during_scheduling_ignored_during_execution.reset();
                      }});
  const auto& terms = required->node_selector_terms;
  for (size_t t = 0; t < terms.size() && t < kMaxExpressions; ++t) {
    const auto& expressions = terms[t].match_expressions;
    if (expressions.size() + terms[t].match_fields.size() < 2) continue;
    for (size_t e = 0; e < expressions.size() && e < kMaxExpressions; ++e) {
      changes->push_back(
          {"DropNodeAffinity",
           fmt::format("its node affinity did not ask for {} {} [{}]", expressions[e].key,
                       expressions[e].operator_, fmt::join(expressions[e].values, ", ")),
           {{"key", expressions[e].key}},
           [t, e](api::Pod& p) {
             auto& list =
                 p.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
                     ->node_selector_terms[t]
                     .match_expressions;
             list.erase(list.begin() + static_cast<std::ptrdiff_t>(e));
           }});
    }
  }
}

void AddSpread(const api::Pod& pod, std::vector<PodChange>* changes) {
  const auto& constraints = pod.spec.topology_spread_constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = constraints[i];
    if (constraint.when_unsatisfiable != "DoNotSchedule") continue;
    for (const int32_t more : {1, 2, 3, 5, 10, 100}) {
      const int32_t skew = constraint.max_skew + more;
      changes->push_back(
          {"RaiseMaxSkew",
           fmt::format("maxSkew over {} were {}", constraint.topology_key, skew),
           {{"from", std::to_string(constraint.max_skew)},
            {"to", std::to_string(skew)},
            {"topologyKey", constraint.topology_key}},
           [i, skew](api::Pod& p) { p.spec.topology_spread_constraints[i].max_skew = skew; }});
    }
    changes->push_back(
        {"DropTopologySpread",
         fmt::format("its spread over {} were only preferred", constraint.topology_key),
         {{"topologyKey", constraint.topology_key}},
         [i](api::Pod& p) {
           p.spec.topology_spread_constraints[i].when_unsatisfiable = "ScheduleAnyway";
         }});
  }
}

void AddPodAffinities(const api::Pod& pod, std::vector<PodChange>* changes) {
  if (!pod.spec.affinity) return;
  const auto erase = [](auto& terms, size_t i) {
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
  };
  if (const auto& affinity = pod.spec.affinity->pod_affinity) {
    const auto& terms = affinity->required_during_scheduling_ignored_during_execution;
    for (size_t i = 0; i < terms.size(); ++i) {
      changes->push_back(
          {"DropPodAffinity",
           fmt::format("it did not have to be near certain pods (by {})", terms[i].topology_key),
           {{"term", std::to_string(i)}, {"topologyKey", terms[i].topology_key}},
           [i, erase](api::Pod& p) {
             erase(
                 p.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution,
                 i);
           }});
    }
  }
  if (const auto& affinity = pod.spec.affinity->pod_anti_affinity) {
    const auto& terms = affinity->required_during_scheduling_ignored_during_execution;
    for (size_t i = 0; i < terms.size(); ++i) {
      changes->push_back(
          {"DropPodAntiAffinity",
           fmt::format("its anti-affinity over {} were only preferred", terms[i].topology_key),
           {{"term", std::to_string(i)}, {"topologyKey", terms[i].topology_key}},
           [i, erase](api::Pod& p) {
             api::PodAntiAffinity& kept = *p.spec.affinity->pod_anti_affinity;
             auto& required = kept.required_during_scheduling_ignored_during_execution;
             kept.preferred_during_scheduling_ignored_during_execution.push_back(
                 {100, required[i]});
             erase(required, i);
           }});
    }
  }
}

void AddHostPorts(const api::Pod& pod, std::vector<PodChange>* changes) {
  std::set<std::pair<int32_t, std::string>> ports;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      for (const api::ContainerPort& port : container.ports) {
        if (port.host_port > 0) {
          ports.emplace(port.host_port, port.protocol.empty() ? "TCP" : port.protocol);
        }
      }
    }
  }
  for (const auto& [number, protocol] : ports) {
    changes->push_back(
        {"FreeHostPort",
         fmt::format("host port {}/{} were free, or not asked for", number, protocol),
         {{"port", std::to_string(number)}, {"protocol", protocol}},
         [n = number, proto = protocol](api::Pod& p) {
           const auto drop = [&](std::vector<api::Container>& containers) {
             for (api::Container& container : containers) {
               for (api::ContainerPort& port : container.ports) {
                 const bool same = (port.protocol.empty() ? "TCP" : port.protocol) == proto;
                 if (port.host_port == n && same) port.host_port = 0;
               }
             }
           };
           drop(p.spec.init_containers);
           drop(p.spec.containers);
         }});
  }
}

void AddVolumesAndClaims(const api::Pod& pod, std::vector<PodChange>* changes) {
  for (const api::Volume& volume : pod.spec.volumes) {
    std::string what = fmt::format("it did without volume {}", volume.name);
    ByName<std::string> change{{"volume", volume.name}};
    if (volume.persistent_volume_claim) {
      what +=
          fmt::format(" (PersistentVolumeClaim {})", volume.persistent_volume_claim->claim_name);
      change["claim"] = volume.persistent_volume_claim->claim_name;
    } else if (!volume.ephemeral && !volume.csi && !volume.gce_persistent_disk &&
               !volume.aws_elastic_block_store && !volume.iscsi && !volume.rbd) {
      continue;  // no plugin looks at it
    }
    changes->push_back(
        {"ReleaseVolume", std::move(what), std::move(change), [name = volume.name](api::Pod& p) {
           std::erase_if(p.spec.volumes, [&](const api::Volume& v) { return v.name == name; });
         }});
  }
  for (const api::PodResourceClaim& claim : pod.spec.resource_claims) {
    changes->push_back({"DropResourceClaim",
                        fmt::format("it did without resource claim {}", claim.name),
                        {{"claim", claim.name}},
                        [name = claim.name](api::Pod& p) {
                          std::erase_if(p.spec.resource_claims,
                                        [&](const auto& c) { return c.name == name; });
                          for (api::Container& container : p.spec.containers) {
                            std::erase_if(container.resources.claims,
                                          [&](const auto& c) { return c.name == name; });
                          }
                          for (api::Container& container : p.spec.init_containers) {
                            std::erase_if(container.resources.claims,
                                          [&](const auto& c) { return c.name == name; });
                          }
                        }});
  }
}

}  // namespace

std::vector<PodChange> Loosenings(const cluster::Cluster& cluster, const api::Pod& pod) {
  std::vector<PodChange> changes;
  AddTolerations(cluster, pod, &changes);
  AddNodeSelectors(pod, &changes);
  AddSpread(pod, &changes);
  AddPodAffinities(pod, &changes);
  AddHostPorts(pod, &changes);
  AddVolumesAndClaims(pod, &changes);
  return changes;
}

void LowerRequest(api::Pod& pod, std::string_view resource, int64_t amount) {
  if (pod.spec.resources) Cap(pod.spec.resources->requests, resource, amount);
  int64_t left = std::max<int64_t>(0, amount - RequestOf(pod.spec.overhead, resource));
  std::vector<api::ResourceList*> together;  // containers and sidecars run at the same time
  int64_t sum = 0;
  const auto add = [&](api::Container& container) {
    together.push_back(&container.resources.requests);
    sum += RequestOf(*together.back(), resource);
  };
  for (api::Container& container : pod.spec.containers) add(container);
  for (api::Container& container : pod.spec.init_containers) {
    if (IsSidecar(container)) {
      add(container);
    } else {
      Cap(container.resources.requests, resource, left);
    }
  }
  // The largest gives first.
  std::stable_sort(together.begin(), together.end(), [&](const auto* a, const auto* b) {
    return RequestOf(*a, resource) > RequestOf(*b, resource);
  });
  for (api::ResourceList* requests : together) {
    if (sum <= left) break;
    const int64_t own = RequestOf(*requests, resource);
    const int64_t given = std::min(own, sum - left);
    Cap(*requests, resource, own - given);
    sum -= given;
  }
}

void DropRequests(api::Pod& pod) {
  if (pod.spec.resources) pod.spec.resources->requests.clear();
  pod.spec.overhead.clear();
  for (api::Container& container : pod.spec.containers) container.resources.requests.clear();
  for (api::Container& container : pod.spec.init_containers) container.resources.requests.clear();
}

std::string AmountText(std::string_view resource, int64_t amount) {
  if (resource == "cpu") {
    return amount % 1000 == 0 ? std::to_string(amount / 1000) : fmt::format("{}m", amount);
  }
  if (!InBytes(resource)) return std::to_string(amount);
  if (amount >= kGibi && amount % kGibi == 0) return fmt::format("{}Gi", amount / kGibi);
  if (amount >= kMebi && amount % kMebi == 0) return fmt::format("{}Mi", amount / kMebi);
  return std::to_string(amount);
}

}  // namespace berth::explain

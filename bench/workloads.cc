#include "bench/workloads.h"

#include <string>

#include <fmt/format.h>

#include "api/defaults.h"

namespace berth::bench {
namespace {

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

api::PodAffinityTerm Term(std::string_view key, const std::string& value,
                          std::string_view topology) {
  api::PodAffinityTerm term;
  term.label_selector.emplace().match_labels[std::string(key)] = value;
  term.topology_key = topology;
  term.namespaces = {"sched-1", "sched-0"};
  return term;
}

constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

void Basic(size_t, api::Pod&) {}

void NodeAffinity(size_t, api::Pod& pod) {
  auto& affinity = pod.spec.affinity.emplace().node_affinity.emplace();
  auto& term = affinity.required_during_scheduling_ignored_during_execution.emplace()
                   .node_selector_terms.emplace_back();
  auto& zone = term.match_expressions.emplace_back();
  zone.key = kZone;
  zone.operator_ = "In";
  zone.values = {"zone1", "zone2"};
}

void PodAffinity(size_t, api::Pod& pod) {
  pod.metadata.labels["color"] = "blue";
  pod.spec.affinity.emplace()
      .pod_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {Term("color", "blue", kZone)};
}

void PodAntiAffinity(size_t, api::Pod& pod) {
  pod.metadata.labels["color"] = "green";
  pod.spec.affinity.emplace()
      .pod_anti_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {Term("color", "green", kHost)};
}

api::WeightedPodAffinityTerm Preferred(const api::PodAffinityTerm& term) {
  api::WeightedPodAffinityTerm weighted;
  weighted.weight = 1;
  weighted.pod_affinity_term = term;
  return weighted;
}

void PreferredPodAffinity(size_t, api::Pod& pod) {
  pod.metadata.labels["color"] = "red";
  pod.spec.affinity.emplace()
      .pod_affinity.emplace()
      .preferred_during_scheduling_ignored_during_execution = {
      Preferred(Term("color", "red", kHost))};
}

void PreferredPodAntiAffinity(size_t, api::Pod& pod) {
  pod.metadata.labels["color"] = "yellow";
  pod.spec.affinity.emplace()
      .pod_anti_affinity.emplace()
      .preferred_during_scheduling_ignored_during_execution = {
      Preferred(Term("color", "yellow", kHost))};
}

void Spread(api::Pod& pod, std::string_view when_unsatisfiable) {
  pod.metadata.labels["color"] = "blue";
  api::TopologySpreadConstraint& constraint = pod.spec.topology_spread_constraints.emplace_back();
  constraint.max_skew = 5;
  constraint.topology_key = kZone;
  constraint.when_unsatisfiable = when_unsatisfiable;
  constraint.label_selector.emplace().match_labels["color"] = "blue";
}
void TopologySpread(size_t, api::Pod& pod) { Spread(pod, "DoNotSchedule"); }
void PreferredTopologySpread(size_t, api::Pod& pod) { Spread(pod, "ScheduleAnyway"); }

constexpr Workload kWorkloads[] = {
    {"basic", "requests only", &Basic},
    {"nodeaffinity", "required node affinity to two of three zones", &NodeAffinity},
    {"podaffinity", "required affinity to the own label in a zone", &PodAffinity},
    {"podantiaffinity", "required anti-affinity to the own label on a node", &PodAntiAffinity},
    {"preferred-podaffinity", "preferred affinity on a node", &PreferredPodAffinity},
    {"preferred-podantiaffinity", "preferred anti-affinity on a node", &PreferredPodAntiAffinity},
    {"topologyspread", "spread over zones, maxSkew 5, required", &TopologySpread},
    {"preferred-topologyspread", "the same, preferred", &PreferredTopologySpread},
};

}  // namespace

std::span<const Workload> Workloads() { return kWorkloads; }

api::Node MakeNode(size_t i) {
  api::Node node;
  node.metadata.name = fmt::format("scheduler-perf-{}", i);
  node.metadata.labels = {{std::string(kHost), node.metadata.name},
                          {std::string(kZone), fmt::format("zone{}", i % 3)}};
  node.status.capacity = {
      {"pods", Amount("110")}, {"cpu", Amount("4")}, {"memory", Amount("32Gi")}};
  node.status.allocatable = node.status.capacity;
  return node;
}

api::Pod MakePod(size_t i, const Workload& workload) {
  api::Pod pod;
  pod.metadata.name = fmt::format("pod-{}", i);
  pod.metadata.namespace_ = "sched-1";
  pod.metadata.uid = fmt::format("uid-{}", i);
  api::Container& container = pod.spec.containers.emplace_back();
  container.name = "pause";
  container.image = "registry.k8s.io/pause:3.10.1";
  container.resources.requests = {{"cpu", Amount("100m")}, {"memory", Amount("500Mi")}};
  container.resources.limits = container.resources.requests;
  workload.shape(i, pod);
  api::SetDefaults(pod);
  return pod;
}

}  // namespace berth::bench

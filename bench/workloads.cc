#include "bench/workloads.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "cluster/objects/object_store.h"

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

constexpr Workload kBasic{"basic", "requests only", &Basic};

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

// --- A bound CSI volume per pod

constexpr std::string_view kDriver = "csi.example.com";

void CsiPvs(size_t i, api::Pod& pod) {
  api::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "data";
  volume.persistent_volume_claim.emplace().claim_name = fmt::format("pvc-{}", i);
}

void CsiPvsSetup(size_t nodes, size_t pods, cluster::Cluster& cluster) {
  SetCsiNodes(cluster, nodes, kDriver);
  for (size_t i = 0; i < pods; ++i) {
    api::PersistentVolume volume;
    volume.spec.csi.emplace().driver = kDriver;
    volume.spec.csi->volume_handle = fmt::format("pv-{}", i);
    SetBoundClaim(cluster, std::move(volume), i);
  }
}

// --- Preemption: four pods of 900m on every node, and pods that need three cores

void Preemption(size_t, api::Pod& pod) {
  pod.spec.priority = 10;
  pod.spec.containers.front().resources.requests["cpu"] = Amount("3");
  pod.spec.containers.front().resources.limits["cpu"] = Amount("3");
}

void PreemptionSetup(size_t nodes, size_t, cluster::Cluster& cluster) {
  constexpr size_t kPerNode = 4;
  for (size_t i = 0; i < nodes * kPerNode; ++i) {
    api::Pod pod = MakePod(i, kBasic);
    pod.metadata.name = fmt::format("low-{}", i);
    pod.metadata.uid = pod.metadata.name;
    pod.spec.containers.front().resources.requests["cpu"] = Amount("900m");
    pod.spec.containers.front().resources.limits["cpu"] = Amount("900m");
    pod.spec.node_name = fmt::format("scheduler-perf-{}", i / kPerNode);
    cluster.AddPod(pod);
  }
}

// --- Devices: ten on every node, one claim for one of them per pod

void Dra(size_t i, api::Pod& pod) {
  api::PodResourceClaim& claim = pod.spec.resource_claims.emplace_back();
  claim.name = "device";
  claim.resource_claim_name = fmt::format("claim-{}", i);
}

void DraSetup(size_t nodes, size_t pods, cluster::Cluster& cluster) {
  constexpr size_t kPerNode = 10;
  cluster::ObjectStore& objects = cluster.MutableObjects();
  api::DeviceClass device_class;
  device_class.metadata.name = "device";
  device_class.spec.selectors.emplace_back().cel.emplace().expression =
      fmt::format("device.driver == \"{}\"", kDriver);
  objects.device_classes.Set(std::move(device_class));
  for (size_t i = 0; i < nodes; ++i) {
    api::ResourceSlice slice;
    slice.metadata.name = fmt::format("slice-{}", i);
    slice.spec.driver = kDriver;
    slice.spec.pool.name = fmt::format("scheduler-perf-{}", i);
    slice.spec.pool.generation = 1;
    slice.spec.pool.resource_slice_count = 1;
    slice.spec.node_name = slice.spec.pool.name;
    for (size_t d = 0; d < kPerNode; ++d) {
      slice.spec.devices.emplace_back().name = fmt::format("device-{}", d);
    }
    objects.resource_slices.Set(std::move(slice));
  }
  for (size_t i = 0; i < pods; ++i) {
    api::ResourceClaim claim;
    claim.metadata.name = fmt::format("claim-{}", i);
    claim.metadata.namespace_ = "sched-1";
    claim.metadata.uid = claim.metadata.name;
    api::DeviceRequest& request = claim.spec.devices.requests.emplace_back();
    request.name = "one";
    api::ExactDeviceRequest& exactly = request.exactly.emplace();
    exactly.device_class_name = "device";
    exactly.allocation_mode = "ExactCount";
    exactly.count = 1;
    objects.resource_claims.Set(std::move(claim));
  }
}

constexpr Workload kWorkloads[] = {
    kBasic,
    {"nodeaffinity", "required node affinity to two of three zones", &NodeAffinity},
    {"podaffinity", "required affinity to the own label in a zone", &PodAffinity},
    {"podantiaffinity", "required anti-affinity to the own label on a node", &PodAntiAffinity},
    {"preferred-podaffinity", "preferred affinity on a node", &PreferredPodAffinity},
    {"preferred-podantiaffinity", "preferred anti-affinity on a node", &PreferredPodAntiAffinity},
    {"topologyspread", "spread over zones, maxSkew 5, required", &TopologySpread},
    {"preferred-topologyspread", "the same, preferred", &PreferredTopologySpread},
    {"csi-pvs", "a claim of its own, bound to a CSI volume", &CsiPvs, &CsiPvsSetup},
    {"preemption", "three cores on nodes full of less important pods", &Preemption,
     &PreemptionSetup, true},
    {"dra", "a claim of its own for one of ten devices per node", &Dra, &DraSetup},
};

}  // namespace

void SetBoundClaim(cluster::Cluster& cluster, api::PersistentVolume volume, size_t i) {
  volume.metadata.name = fmt::format("pv-{}", i);
  volume.spec.capacity["storage"] = Amount("1Gi");
  volume.spec.access_modes = {"ReadOnlyMany"};
  api::PersistentVolumeClaim claim;
  claim.metadata.name = fmt::format("pvc-{}", i);
  claim.metadata.namespace_ = "sched-1";
  claim.metadata.uid = claim.metadata.name;
  claim.metadata.annotations["pv.kubernetes.io/bind-completed"] = "true";
  claim.spec.access_modes = volume.spec.access_modes;
  claim.spec.resources.requests["storage"] = Amount("1Gi");
  claim.spec.volume_name = volume.metadata.name;
  claim.status.phase = "Bound";
  api::ObjectReference& reference = volume.spec.claim_ref.emplace();
  reference.name = claim.metadata.name;
  reference.namespace_ = claim.metadata.namespace_;
  reference.uid = claim.metadata.uid;
  cluster::ObjectStore& objects = cluster.MutableObjects();
  objects.persistent_volumes.Set(std::move(volume));
  objects.persistent_volume_claims.Set(std::move(claim));
}

void SetCsiNodes(cluster::Cluster& cluster, size_t nodes, std::string_view driver) {
  for (size_t i = 0; i < nodes; ++i) {
    api::CSINode node;
    node.metadata.name = fmt::format("scheduler-perf-{}", i);
    api::CSINodeDriver& own = node.spec.drivers.emplace_back();
    own.name = driver;
    own.node_id = node.metadata.name;
    own.allocatable.emplace().count = 39;
    cluster.MutableObjects().csi_nodes.Set(std::move(node));
  }
}

std::span<const Workload> Workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list(std::begin(kWorkloads), std::end(kWorkloads));
    list.insert(list.end(), SuiteWorkloads().begin(), SuiteWorkloads().end());
    list.insert(list.end(), StrategyWorkloads().begin(), StrategyWorkloads().end());
    list.insert(list.end(), PluginWorkloads().begin(), PluginWorkloads().end());
    return list;
  }();
  return all;
}

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

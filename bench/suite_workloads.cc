// The less common workloads of scheduler_perf, and some that it lacks: other volumes, namespace
// selectors, default spread, mixed and moving clusters, pods for one node, pods with labels of
// their own.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/workloads.h"
#include "cluster/objects/object_store.h"

namespace berth::bench {
namespace {

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

// --- Volumes

void Secrets(size_t, api::Pod& pod) {
  api::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "secret";
  volume.secret.emplace();
}

void InTreePvs(size_t i, api::Pod& pod) {
  api::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "vol";
  volume.persistent_volume_claim.emplace().claim_name = fmt::format("pvc-{}", i);
}

void InTreePvsSetup(size_t, size_t pods, cluster::Cluster& cluster) {
  for (size_t i = 0; i < pods; ++i) {
    api::PersistentVolume volume;
    volume.spec.aws_elastic_block_store.emplace().volume_id = fmt::format("pv-{}", i);
    SetBoundClaim(cluster, std::move(volume), i);
  }
}

// Claims whose volumes are provisioned where their pods go.
void WaitingPvsSetup(size_t nodes, size_t pods, cluster::Cluster& cluster) {
  constexpr std::string_view kDriver = "csi.example.com";
  cluster::ObjectStore& objects = cluster.MutableObjects();
  SetCsiNodes(cluster, nodes, kDriver);
  api::StorageClass storage_class;
  storage_class.metadata.name = "waits";
  storage_class.provisioner = kDriver;
  storage_class.volume_binding_mode = "WaitForFirstConsumer";
  objects.storage_classes.Set(std::move(storage_class));
  for (size_t i = 0; i < pods; ++i) {
    api::PersistentVolumeClaim claim;
    claim.metadata.name = fmt::format("pvc-{}", i);
    claim.metadata.namespace_ = "sched-1";
    claim.metadata.uid = claim.metadata.name;
    claim.metadata.resource_version = "1";
    claim.spec.access_modes = {"ReadWriteOnce"};
    claim.spec.resources.requests["storage"] = Amount("1Gi");
    claim.spec.storage_class_name = "waits";
    claim.status.phase = "Pending";
    objects.persistent_volume_claims.Set(std::move(claim));
  }
}

// --- Affinity to pods in namespaces of a team

void TeamNamespaces(size_t, size_t, cluster::Cluster& cluster) {
  constexpr int kNamespaces = 100;
  for (int i = 0; i < kNamespaces; ++i) {
    api::Namespace ns;
    ns.metadata.name = fmt::format("sched-{}", i);
    ns.metadata.labels["team"] = "devops";
    cluster.MutableObjects().namespaces.Set(std::move(ns));
  }
}

api::PodAffinityTerm TeamTerm(api::Pod& pod, const std::string& color, std::string_view topology) {
  pod.metadata.labels["color"] = color;
  api::PodAffinityTerm term;
  term.label_selector.emplace().match_labels["color"] = color;
  term.topology_key = topology;
  term.namespace_selector.emplace().match_labels["team"] = "devops";
  return term;
}

api::WeightedPodAffinityTerm Preferred(const api::PodAffinityTerm& term) {
  api::WeightedPodAffinityTerm weighted;
  weighted.weight = 1;
  weighted.pod_affinity_term = term;
  return weighted;
}

void NsAffinity(size_t, api::Pod& pod) {
  const auto term = TeamTerm(pod, "blue", kZone);
  pod.spec.affinity.emplace()
      .pod_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {term};
}

void NsAntiAffinity(size_t, api::Pod& pod) {
  const auto term = TeamTerm(pod, "green", kHost);
  pod.spec.affinity.emplace()
      .pod_anti_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {term};
}

void PreferredNsAffinity(size_t, api::Pod& pod) {
  const auto term = TeamTerm(pod, "red", kHost);
  pod.spec.affinity.emplace()
      .pod_affinity.emplace()
      .preferred_during_scheduling_ignored_during_execution = {Preferred(term)};
}

void PreferredNsAntiAffinity(size_t, api::Pod& pod) {
  const auto term = TeamTerm(pod, "green", kHost);
  pod.spec.affinity.emplace()
      .pod_anti_affinity.emplace()
      .preferred_during_scheduling_ignored_during_execution = {Preferred(term)};
}

// --- Spread that no pod asks for: a service selects them

void OfService(size_t, api::Pod& pod) { pod.metadata.labels["app"] = "scheduler-perf"; }

void ServiceSetup(size_t, size_t, cluster::Cluster& cluster) {
  api::Service service;
  service.metadata.name = "service";
  service.metadata.namespace_ = "sched-1";
  service.spec.selector["app"] = "scheduler-perf";
  cluster.MutableObjects().services.Set(std::move(service));
}

// --- Pods of five kinds are there already

void Plain(size_t, api::Pod&) {}

void MixedSetup(size_t nodes, size_t, cluster::Cluster& cluster) {
  constexpr std::string_view kKinds[] = {"basic", "podaffinity", "podantiaffinity",
                                         "preferred-podaffinity", "preferred-podantiaffinity"};
  for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
    for (const Workload& workload : Workloads()) {
      if (workload.name != kKinds[kind]) continue;
      for (size_t i = kind; i < nodes; i += std::size(kKinds)) {
        api::Pod pod = MakePod(i, workload);
        pod.metadata.name = fmt::format("{}-{}", workload.name, i);
        pod.metadata.uid = pod.metadata.name;
        pod.spec.node_name = fmt::format("scheduler-perf-{}", i);
        cluster.AddPod(pod);
      }
    }
  }
}

// --- Clusters that move: a node and a service come and go, now and then

void ChurnBetween(size_t i, cluster::Cluster& cluster) {
  constexpr size_t kEvery = 100;
  if (i % kEvery != 0) return;
  constexpr std::string_view kName = "node-churn";
  if (i / kEvery % 2 == 1) {
    cluster.RemoveNode(kName);
    cluster.MutableObjects().services.Remove("sched-1", "service-churn");
    return;
  }
  api::Node node;
  node.metadata.name = kName;
  node.status.capacity = {{"pods", Amount("0")}};
  node.status.allocatable = node.status.capacity;
  cluster.SetNode(node);
  api::Service service;
  service.metadata.name = "service-churn";
  service.metadata.namespace_ = "sched-1";
  service.spec.selector["app"] = "foo";
  cluster.MutableObjects().services.Set(std::move(service));
}

// --- Pods that fit nowhere, pods that must not be tried, pods for one node

void EverySecondTooLarge(size_t i, api::Pod& pod) {
  if (i % 2 == 0) return;
  pod.spec.containers.front().resources.requests["cpu"] = Amount("9");
  pod.spec.containers.front().resources.limits.clear();
}

void GatedSetup(size_t, size_t, cluster::Cluster& cluster) {
  constexpr size_t kGated = 10000;
  const Workload plain{"plain", "", &Plain};
  for (size_t i = 0; i < kGated; ++i) {
    api::Pod pod = MakePod(i, plain);
    pod.metadata.name = fmt::format("gated-{}", i);
    pod.metadata.uid = pod.metadata.name;
    pod.spec.scheduling_gates.emplace_back().name = "test.k8s.io/hold";
    cluster.AddPod(pod);
  }
}

constexpr std::string_view kDaemonNode = "scheduler-perf-node";

void DaemonOn(std::string node, api::Pod& pod) {
  pod.spec.containers.front().resources = {};
  auto& affinity = pod.spec.affinity.emplace().node_affinity.emplace();
  auto& field = affinity.required_during_scheduling_ignored_during_execution.emplace()
                    .node_selector_terms.emplace_back()
                    .match_fields.emplace_back();
  field.key = "metadata.name";
  field.operator_ = "In";
  field.values = {std::move(node)};
}

void Daemon(size_t, api::Pod& pod) { DaemonOn(std::string(kDaemonNode), pod); }

// One pod of each of many sets on each of a hundred nodes: no two pods have the same shape.
void DaemonOfItsNode(size_t i, api::Pod& pod) {
  pod.metadata.labels = {{"daemonset", std::to_string(i / 100)}};
  DaemonOn(MakeNode(i % 100).metadata.name, pod);
}

void DaemonSetup(size_t, size_t pods, cluster::Cluster& cluster) {
  api::Node node = MakeNode(0);
  node.metadata.name = kDaemonNode;
  node.metadata.labels[std::string(kHost)] = node.metadata.name;
  node.status.capacity["pods"] = Amount(std::to_string(pods));
  node.status.allocatable = node.status.capacity;
  cluster.SetNode(node);
}

// --- Pods with labels of their own

void StatefulSetPod(size_t i, api::Pod& pod) {
  pod.metadata.labels = {{"app", "web"},
                         {"statefulset.kubernetes.io/pod-name", fmt::format("web-{}", i)},
                         {"apps.kubernetes.io/pod-index", std::to_string(i)}};
  api::OwnerReference& owner = pod.metadata.owner_references.emplace_back();
  owner.api_version = "apps/v1";
  owner.kind = "StatefulSet";
  owner.name = "web";
  owner.uid = "web";
  owner.controller = true;
}

void StatefulSetSetup(size_t, size_t, cluster::Cluster& cluster) {
  api::StatefulSet set;
  set.metadata.name = "web";
  set.metadata.namespace_ = "sched-1";
  set.spec.selector.emplace().match_labels["app"] = "web";
  cluster.MutableObjects().stateful_sets.Set(std::move(set));
}

// A service of its own for each of many other applications.
void StatefulSetAmongServices(size_t nodes, size_t pods, cluster::Cluster& cluster) {
  constexpr size_t kServices = 5000;
  constexpr size_t kNamespaces = 100;
  StatefulSetSetup(nodes, pods, cluster);
  for (size_t i = 0; i < kServices; ++i) {
    api::Service service;
    service.metadata.name = fmt::format("service-{}", i);
    service.metadata.namespace_ = fmt::format("sched-{}", i % kNamespaces);
    service.spec.selector["app"] = fmt::format("app-{}", i);
    cluster.MutableObjects().services.Set(std::move(service));
  }
}

void StatefulSetApart(size_t i, api::Pod& pod) {
  StatefulSetPod(i, pod);
  api::WeightedPodAffinityTerm& preferred =
      pod.spec.affinity.emplace()
          .pod_anti_affinity.emplace()
          .preferred_during_scheduling_ignored_during_execution.emplace_back();
  preferred.weight = 100;
  preferred.pod_affinity_term.label_selector.emplace().match_labels["app"] = "web";
  preferred.pod_affinity_term.topology_key = kHost;
}

void IndexedJob(size_t i, api::Pod& pod) {
  pod.metadata.labels = {{"batch.kubernetes.io/job-name", "job"},
                         {"batch.kubernetes.io/job-completion-index", std::to_string(i)}};
}

constexpr Workload kWorkloads[] = {
    {"secrets", "a volume of a secret", &Secrets},
    {"intree-pvs", "a claim of its own, bound to a volume of an in-tree driver", &InTreePvs,
     &InTreePvsSetup},
    {"wffc", "a claim of its own, whose volume is provisioned where the pod goes", &InTreePvs,
     &WaitingPvsSetup},
    {"podaffinity-ns", "as podaffinity, in namespaces of a team", &NsAffinity, &TeamNamespaces},
    {"podantiaffinity-ns", "as podantiaffinity, in namespaces of a team", &NsAntiAffinity,
     &TeamNamespaces},
    {"preferred-podaffinity-ns", "as preferred-podaffinity, in namespaces of a team",
     &PreferredNsAffinity, &TeamNamespaces},
    {"preferred-podantiaffinity-ns", "as preferred-podantiaffinity, in namespaces of a team",
     &PreferredNsAntiAffinity, &TeamNamespaces},
    {"default-topologyspread", "pods of a service, spread by default", &OfService, &ServiceSetup},
    {"mixed", "requests only, among pods of five kinds of affinity", &Plain, &MixedSetup},
    {"churn", "requests only, while a node and a service come and go", &Plain, nullptr, false,
     &ChurnBetween},
    {"unschedulable", "every second pod is too large for any node", &EverySecondTooLarge},
    {"gated", "requests only, beside 10,000 gated pods", &Plain, &GatedSetup},
    {"daemonset", "required affinity to one node by name", &Daemon, &DaemonSetup},
    {"daemonset-nodes", "the same, each pod to another node", &DaemonOfItsNode},
    {"indexed-job", "requests only, with a label of its own", &IndexedJob},
    {"statefulset", "labels of its own, spread by default with its set", &StatefulSetPod,
     &StatefulSetSetup},
    {"statefulset-services", "the same, among 5,000 services of others", &StatefulSetPod,
     &StatefulSetAmongServices},
    {"statefulset-apart", "as statefulset, with preferred anti-affinity on a node",
     &StatefulSetApart, &StatefulSetSetup},
};

}  // namespace

std::span<const Workload> SuiteWorkloads() { return kWorkloads; }

}  // namespace berth::bench

// Workloads of the plugins of scheduler-plugins: the default configuration with one plugin more, on
// a cluster that has what the plugin reads. Those that only sort the queue have no part in a cycle.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "api/scheduling/priority_class.h"
#include "api/unknown_object.h"
#include "bench/workloads.h"
#include "cluster/objects/object_store.h"
#include "cluster/table/load_metrics.h"

namespace berth::bench {
namespace {

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

constexpr std::string_view kNamespace = "sched-1";  // of all pods

// A configuration with the plugin `name` and its arguments.
#define BERTH_WITH_PLUGIN(name, args)               \
  "apiVersion: kubescheduler.config.k8s.io/v1\n"    \
  "kind: KubeSchedulerConfiguration\n"              \
  "profiles:\n"                                     \
  "- plugins: {multiPoint: {enabled: [{name: " name \
  ", weight: 10}]}}\n"                              \
  "  pluginConfig: [{name: " name ", args: {" args "}}]\n"

constexpr std::string_view kCapacityScheduling =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins: {multiPoint: {enabled: [{name: CapacityScheduling}],"
    " disabled: [{name: DefaultPreemption}]}}\n";
constexpr std::string_view kCoscheduling =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins:\n"
    "    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n"
    "    multiPoint: {enabled: [{name: Coscheduling}]}\n";
constexpr std::string_view kPreemptionToleration =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins: {multiPoint: {enabled: [{name: PreemptionToleration}],"
    " disabled: [{name: DefaultPreemption}]}}\n";
constexpr std::string_view kPodState =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- plugins: {multiPoint: {enabled: [{name: PodState, weight: 10}]}}\n";

void Custom(cluster::Cluster& cluster, const std::string& api_version, const std::string& kind,
            std::string_view namespace_, const std::string& name, const std::string& fields) {
  auto* store = cluster.MutableObjects().custom.Find(api_version, kind);
  if (store == nullptr) return;  // the configuration does not name the kind
  api::UnknownObject object{api_version, kind, {}, ""};
  object.metadata.name = name;
  object.metadata.namespace_ = namespace_;
  object.metadata.uid = name;
  object.json = fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}"}},{}}})",
                            name, namespace_, name, fields);
  store->Set(std::move(object));
}

void Nothing(size_t, api::Pod&) {}

// --- Quotas and groups

void Quota(size_t, size_t, cluster::Cluster& cluster) {
  Custom(cluster, "scheduling.x-k8s.io/v1alpha1", "ElasticQuota", kNamespace, "quota",
         R"("spec":{"min":{"cpu":"1M","memory":"1Ei"},"max":{"cpu":"1M","memory":"1Ei"}})");
}

constexpr size_t kGroupSize = 10;

void Groups(size_t, size_t pods, cluster::Cluster& cluster) {
  for (size_t i = 0; i <= pods / kGroupSize; ++i) {
    Custom(cluster, "scheduling.x-k8s.io/v1alpha1", "PodGroup", kNamespace, fmt::format("g{}", i),
           R"("spec":{"minMember":1})");
  }
}

void OfGroup(size_t i, api::Pod& pod) {
  pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = fmt::format("g{}", i / kGroupSize);
}

// --- Places

void Network(size_t, size_t, cluster::Cluster& cluster) {
  Custom(cluster, "appgroup.diktyo.x-k8s.io/v1alpha1", "AppGroup", "default", "app",
         R"("spec":{"workloads":[{"workload":{"selector":"front"},"dependencies":[)"
         R"({"workload":{"selector":"back"},"maxNetworkCost":5}]},)"
         R"({"workload":{"selector":"back"}}]})");
  std::string origins;
  for (int from = 0; from < 3; ++from) {
    std::string costs;
    for (int to = 0; to < 3; ++to) {
      if (from == to) continue;
      costs += fmt::format(R"({}{{"destination":"zone{}","networkCost":{}}})",
                           costs.empty() ? "" : ",", to, from + to);
    }
    origins += fmt::format(R"({}{{"origin":"zone{}","costList":[{}]}})", origins.empty() ? "" : ",",
                           from, costs);
  }
  Custom(cluster, "networktopology.diktyo.x-k8s.io/v1alpha1", "NetworkTopology", "default",
         "nt-default",
         fmt::format(R"("spec":{{"weights":[{{"name":"UserDefined","topologyList":[)"
                     R"({{"topologyKey":"topology.kubernetes.io/zone","originList":[{}]}}]}}]}})",
                     origins));
}

// Every hundredth pod is one that the others talk to.
void OfApp(size_t i, api::Pod& pod) {
  pod.metadata.labels["appgroup.diktyo.x-k8s.io"] = "app";
  pod.metadata.labels["appgroup.diktyo.x-k8s.io.workload"] = i % 100 == 0 ? "back" : "front";
}

void Cells(size_t nodes, size_t, cluster::Cluster& cluster) {
  std::string cells;
  for (int i = 0; i < 2; ++i) {
    cells += fmt::format(
        R"({}{{"name":"node-{}","type":"Node","resources":[)"
        R"({{"name":"cpu","capacity":"2","allocatable":"2","available":"2"}},)"
        R"({{"name":"memory","capacity":"16Gi","allocatable":"16Gi","available":"16Gi"}}]}})",
        i == 0 ? "" : ",", i);
  }
  for (size_t i = 0; i < nodes; ++i) {
    Custom(cluster, "topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "",
           MakeNode(i).metadata.name,
           fmt::format(R"("attributes":[{{"name":"topologyManagerPolicy","value":)"
                       R"("single-numa-node"}},{{"name":"topologyManagerScope","value":)"
                       R"("container"}}],"zones":[{}])",
                       cells));
  }
}

void Guaranteed(size_t, api::Pod& pod) {
  auto& resources = pod.spec.containers[0].resources;
  resources.limits = resources.requests;
}

// --- System calls

constexpr size_t kProfiles = 8;

void Seccomp(size_t, size_t, cluster::Cluster& cluster) {
  for (size_t i = 0; i < kProfiles; ++i) {
    std::string names;
    for (size_t call = 0; call < 200; ++call) {
      names += fmt::format("{}\"call{}\"", call == 0 ? "" : ",", 20 * i + call);
    }
    Custom(cluster, "security-profiles-operator.x-k8s.io/v1beta1", "SeccompProfile", kNamespace,
           fmt::format("p{}", i),
           fmt::format(R"("spec":{{"syscalls":[{{"action":"SCMP_ACT_ALLOW","names":[{}]}}]}})",
                       names));
  }
}

void Confined(size_t i, api::Pod& pod) {
  auto& profile = pod.spec.security_context.emplace().seccomp_profile.emplace();
  profile.type = "Localhost";
  profile.localhost_profile = fmt::format("operator/{}/p{}.json", kNamespace, i % kProfiles);
  pod.status.start_time = api::Time::FromUnixNano(1);  // counts on its node at once
}

// --- Load

void Measured(size_t nodes, size_t, cluster::Cluster& cluster) {
  for (size_t i = 0; i < nodes; ++i) {
    const auto percent = static_cast<double>(i % 60);
    const cluster::NodeLoad load{.window_end = 1'700'000'000,
                                 .metrics = {{"CPU", "AVG", percent},
                                             {"Memory", "AVG", percent / 2},
                                             {"CPU", "STD", percent / 5},
                                             {"Memory", "STD", percent / 7}}};
    cluster::NodeMetrics metrics;
    cluster::AddLoad("", load, &metrics);
    cluster.SetMetrics(MakeNode(i).metadata.name, std::move(metrics));
  }
}

void Important(size_t, api::Pod& pod) {
  pod.spec.priority = 1000;
  pod.spec.containers[0].resources.requests["cpu"] = Amount("3");
}

// A class that tolerates to be preempted by pods above priority 100, and a pod of it on each node.
void Tolerant(size_t nodes, size_t, cluster::Cluster& cluster) {
  auto* store = cluster.MutableObjects().custom.Find(api::PriorityClass::kApiVersion,
                                                     api::PriorityClass::kKind);
  if (store == nullptr) return;
  api::PriorityClass tolerant;
  tolerant.metadata.name = "tolerant";
  tolerant.metadata
      .annotations["preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"] =
      "100";
  store->Set(cluster::AsUnknown(tolerant));
  for (size_t i = 0; i < nodes; ++i) {
    api::Pod pod;
    pod.metadata.name = fmt::format("tolerant-{}", i);
    pod.metadata.uid = pod.metadata.name;
    pod.metadata.namespace_ = kNamespace;
    pod.spec.priority_class_name = "tolerant";
    pod.spec.priority = 0;
    pod.spec.containers.emplace_back().resources.requests["cpu"] = Amount("2");
    cluster.Place(cluster.AddPod(pod), static_cast<cluster::NodeIndex>(i), false);
  }
}

constexpr Workload kWorkloads[] = {
    {.name = "capacity-scheduling",
     .help = "basic pods with the plugin CapacityScheduling and a quota",
     .shape = &Nothing,
     .setup = &Quota,
     .config = kCapacityScheduling},
    {.name = "coscheduling",
     .help = "pods of groups of ten with the plugin Coscheduling",
     .shape = &OfGroup,
     .setup = &Groups,
     .config = kCoscheduling},
    {.name = "network-overhead",
     .help = "pods that talk to others, with the plugin NetworkOverhead",
     .shape = &OfApp,
     .setup = &Network,
     .config = BERTH_WITH_PLUGIN("NetworkOverhead", "")},
    {.name = "numa",
     .help = "pods that are aligned, with the plugin NodeResourceTopologyMatch",
     .shape = &Guaranteed,
     .setup = &Cells,
     .config = BERTH_WITH_PLUGIN("NodeResourceTopologyMatch", "")},
    {.name = "node-resources-allocatable",
     .help = "basic pods with the plugin NodeResourcesAllocatable",
     .shape = &Nothing,
     .config = BERTH_WITH_PLUGIN("NodeResourcesAllocatable", "")},
    {.name = "node-metadata",
     .help = "basic pods with the plugin NodeMetadata, by a label",
     .shape = &Nothing,
     .config = BERTH_WITH_PLUGIN("NodeMetadata",
                                 "metadataKey: kubernetes.io/hostname, metadataSource: Label, "
                                 "metadataType: Number, scoringStrategy: Highest")},
    {.name = "pod-state",
     .help = "basic pods with the plugin PodState",
     .shape = &Nothing,
     .config = kPodState},
    {.name = "preemption-toleration",
     .help = "pods that preempt, with the plugin PreemptionToleration",
     .shape = &Important,
     .setup = &Tolerant,
     .preempts = true,
     .config = kPreemptionToleration},
    {.name = "sysched",
     .help = "pods of eight seccomp profiles with the plugin SySched",
     .shape = &Confined,
     .setup = &Seccomp,
     .config = BERTH_WITH_PLUGIN("SySched", "")},
    {.name = "target-load-packing",
     .help = "basic pods on measured nodes with the plugin TargetLoadPacking",
     .shape = &Nothing,
     .setup = &Measured,
     .config = BERTH_WITH_PLUGIN("TargetLoadPacking", "watcherAddress: 'http://load-watcher'")},
    {.name = "load-variation-risk-balancing",
     .help = "the same with the plugin LoadVariationRiskBalancing",
     .shape = &Nothing,
     .setup = &Measured,
     .config =
         BERTH_WITH_PLUGIN("LoadVariationRiskBalancing", "watcherAddress: 'http://load-watcher'")},
    {.name = "low-risk-over-commitment",
     .help = "the same with the plugin LowRiskOverCommitment",
     .shape = &Nothing,
     .setup = &Measured,
     .config = BERTH_WITH_PLUGIN("LowRiskOverCommitment", "watcherAddress: 'http://load-watcher'")},
    {.name = "peaks",
     .help = "the same with the plugin Peaks and a model of one node",
     .shape = &Nothing,
     .setup = &Measured,
     .config = BERTH_WITH_PLUGIN("Peaks",
                                 "WatcherAddress: 'http://load-watcher', NodePowerModel: "
                                 "{scheduler-perf-1: {k0: 471.7, k1: -91.5, k2: -0.0718}}")},
};

#undef BERTH_WITH_PLUGIN

}  // namespace

std::span<const Workload> PluginWorkloads() { return kWorkloads; }

}  // namespace berth::bench

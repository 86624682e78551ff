// Workloads of the plugins that score by load, GPUs and power: the default configuration with the
// plugin, on nodes that have what it reads.
#include <string>

#include <fmt/format.h>

#include "bench/workloads.h"
#include "cluster/table/load_metrics.h"

namespace berth::bench {
namespace {

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

constexpr std::string_view kGpuFragmentation = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: GpuFragmentation, weight: 10}]}}
)";

constexpr std::string_view kEnergyAware = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: EnergyAware, weight: 10}]}}
  pluginConfig:
  - name: EnergyAware
    args:
      models:
      - {class: a, sleepWatts: 5, cpu: {idleWatts: 20, maxWatts: 180}, gpu: {idleWatts: 30, maxWatts: 300}}
      - {class: b, cpu: {idleWatts: 15, maxWatts: 120}, gpu: {idleWatts: 10, maxWatts: 70}}
)";

constexpr std::string_view kLoadAware = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: LoadAware, weight: 10}]}}
)";

// Eight GPUs on each node, of two classes.
void GpuNodes(size_t nodes, size_t, cluster::Cluster& cluster) {
  for (size_t i = 0; i < nodes; ++i) {
    api::Node node = MakeNode(i);
    node.status.allocatable["nvidia.com/gpu"] = Amount("8");
    node.status.allocatable["berth.dev/gpu-milli"] = Amount("8k");
    node.metadata.labels["berth.dev/power-class"] = i % 2 == 0 ? "a" : "b";
    cluster.SetNode(node);
  }
}

// Every fourth pod takes a whole GPU, the others shares of different sizes.
void Gpus(size_t i, api::Pod& pod) {
  api::ResourceList& requests = pod.spec.containers[0].resources.requests;
  if (i % 4 == 0) {
    requests["nvidia.com/gpu"] = Amount("1");
  } else {
    requests["berth.dev/gpu-milli"] = Amount(std::to_string(200 * (i % 4)));
  }
}

void MeasuredNodes(size_t nodes, size_t, cluster::Cluster& cluster) {
  for (size_t i = 0; i < nodes; ++i) {
    cluster::NodeMetrics metrics;
    const auto percent = static_cast<double>(i % 60);
    cluster::AddLoad("KubernetesMetricsServer",
                     {.window_end = 1'700'000'000,
                      .metrics = {{"CPU", "Latest", percent}, {"Memory", "Latest", percent / 2}}},
                     &metrics);
    cluster.SetMetrics(MakeNode(i).metadata.name, std::move(metrics));
  }
}

void Nothing(size_t, api::Pod&) {}

constexpr Workload kWorkloads[] = {
    {.name = "gpu-fragmentation",
     .help = "whole and shared GPUs with the plugin GpuFragmentation",
     .shape = &Gpus,
     .setup = &GpuNodes,
     .config = kGpuFragmentation},
    {.name = "energy-aware",
     .help = "whole and shared GPUs with the plugin EnergyAware",
     .shape = &Gpus,
     .setup = &GpuNodes,
     .config = kEnergyAware},
    {.name = "load-aware",
     .help = "basic pods on measured nodes with the plugin LoadAware",
     .shape = &Nothing,
     .setup = &MeasuredNodes,
     .config = kLoadAware},
};

}  // namespace

std::span<const Workload> StrategyWorkloads() { return kWorkloads; }

}  // namespace berth::bench

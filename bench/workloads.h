// The workloads berth-bench knows, with the node and pod templates of kube-scheduler's
// scheduler_perf suite.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "api/core/node.h"
#include "api/core/persistent_volume.h"
#include "api/core/pod.h"
#include "cluster/cluster.h"

namespace berth::bench {

struct Workload {
  std::string_view name;
  std::string_view help;
  // Turns the basic pod number `i` into one of this workload.
  void (*shape)(size_t i, api::Pod& pod);
  // What the cluster must hold besides nodes, before pods 0 to `pods` come; null: nothing.
  void (*setup)(size_t nodes, size_t pods, cluster::Cluster& cluster) = nullptr;
  // The nodes are full of less important pods: every measured pod must preempt.
  bool preempts = false;
  // Changes the cluster before pod number `i` is scheduled; null: nothing changes.
  void (*between)(size_t i, cluster::Cluster& cluster) = nullptr;
  // YAML of a KubeSchedulerConfiguration; empty: the default one.
  std::string_view config = {};
};

std::span<const Workload> Workloads();
// Those of them that suite_workloads.cc has.
std::span<const Workload> SuiteWorkloads();
// Those that strategy_workloads.cc has.
std::span<const Workload> StrategyWorkloads();
// Those that plugin_workloads.cc has.
std::span<const Workload> PluginWorkloads();

// A node of 4 cores, 32 GiB and 110 pods in one of three zones.
api::Node MakeNode(size_t i);
// A pod of 100m and 500 MiB in namespace sched-1.
api::Pod MakePod(size_t i, const Workload& workload);

// Puts the volume "pv-I" of 1 GiB into the cluster, bound to the claim "pvc-I" of sched-1. `volume`
// says what it is a volume of.
void SetBoundClaim(cluster::Cluster& cluster, api::PersistentVolume volume, size_t i);

// Every node takes 39 volumes of the CSI driver.
void SetCsiNodes(cluster::Cluster& cluster, size_t nodes, std::string_view driver);

}  // namespace berth::bench

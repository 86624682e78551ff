// kube_pod_resource_request and kube_pod_resource_limit, the metrics of /metrics/resources:
// requests and limits of every unfinished pod, per resource.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "cluster/cluster.h"
#include "kube/host/other_pods.h"

namespace berth::server {

// One resource of a pod, as printed.
struct ResourceUse {
  std::string labels;  // resource="cpu" and the like, in the order they are printed, without unit
  std::string unit;
  double amount = 0;
};

// What pods of one shape have in common.
struct ShapeUse {
  std::string namespace_;
  std::string priority;  // empty: not set
  std::string scheduler_name;
  std::vector<ResourceUse> requests;  // sorted by resource; zero amounts are omitted
  std::vector<ResourceUse> limits;
};
ShapeUse UseOf(const api::Pod& pod);

struct PodResourceUse {
  std::string name;
  std::string node;
  std::shared_ptr<const ShapeUse> shape;
};

// All pods of the cluster, and pending pods of other schedulers. On the engine's thread; copies
// every pod's name.
std::shared_ptr<const std::vector<PodResourceUse>> CollectPodResources(
    const cluster::Cluster& cluster, const kube::OtherPods& others);

// The body of /metrics/resources.
std::string WritePodResources(const std::vector<PodResourceUse>& pods);

}  // namespace berth::server

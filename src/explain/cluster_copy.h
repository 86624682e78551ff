// ClusterCopy: the objects of a cluster as they are now, to think about on another thread.
//
// Cheap to take: pods of one shape share its spec, and objects that are held by pointer stay so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

struct ClusterCopy {
  struct Pod {
    uint32_t shape = 0;  // index into shapes
    std::string name;
    std::string uid;
    std::string node_name;
    std::string nominated_node_name;
    api::Time creation_timestamp;
    api::Time start_time;
    bool terminating = false;
    bool preempted = false;
    std::optional<api::Time> scheduled_at = std::nullopt;
    std::vector<api::PodResourceClaimStatus> claims;
  };
  std::vector<std::shared_ptr<const api::Node>> nodes;
  std::vector<api::Pod> shapes;
  std::vector<Pod> pods;
  cluster::ObjectStore objects;
  std::vector<std::pair<std::string, cluster::NodeMetrics>> metrics;  // by node
};

ClusterCopy CopyCluster(const scheduler::Source& source);

// The pod as an object.
api::Pod ToObject(const ClusterCopy& copy, const ClusterCopy::Pod& pod);
api::Pod ToObject(const cluster::Pod& pod);

// Fills an empty cluster, which tracks what its plugins read (Cluster::Track).
void LoadCopy(const ClusterCopy& copy, cluster::Cluster* cluster);

}  // namespace berth::explain

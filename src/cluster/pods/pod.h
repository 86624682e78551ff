// Pod: one pod as the scheduler knows it, pending or placed. What it shares with its siblings is in
// its PodShape.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "cluster/ids.h"
#include "cluster/pods/pod_shape.h"

namespace berth::cluster {

// Names a pod of a cluster, also after it is gone: ids are used again, serials are not.
struct PodKey {
  PodId id = kNoPod;
  uint64_t serial = 0;

  auto operator<=>(const PodKey&) const = default;
};

struct Pod {
  PodId id = kNoPod;
  uint64_t serial = 0;              // 0: not in a table
  const PodShape* shape = nullptr;  // never null once the pod is in a table

  std::string name;
  std::string uid;
  std::string node_name;            // spec.nodeName
  std::string nominated_node_name;  // status.nominatedNodeName
  api::Time creation_timestamp;
  api::Time start_time;      // zero: not started
  bool terminating = false;  // has a deletionTimestamp
  // Deleted by a preemption that is still under way (condition DisruptionTarget, reason
  // PreemptionByScheduler).
  bool preempted = false;
  // When the condition PodScheduled became True; absent: it is not. Not a part of the node's state:
  // a change alone does not mark the node's row dirty.
  std::optional<api::Time> scheduled_at;
  // Has chosen victims whose deletion is still being asked for; it is not tried again before. Kept
  // by the scheduler.
  bool preempting = false;
  // Which generated ResourceClaim stands for which entry of spec.resourceClaims.
  std::vector<api::PodResourceClaimStatus> resource_claim_statuses;

  // Where it is in the cluster. Kept by Cluster.
  NodeIndex node = kNoNode;
  uint32_t position = 0;  // in the node's pod list
  bool assumed = false;   // placed by our decision, not yet confirmed by the API server

  PodKey key() const { return {id, serial}; }
  const std::string& namespace_() const { return shape->namespace_; }
  // "namespace/name".
  std::string Key() const { return shape->namespace_ + "/" + name; }
};

}  // namespace berth::cluster

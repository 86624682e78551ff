// Entities: what waits, as the scheduling queue has it. A pod, or a pod group with its pods.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/scheduling/pod_group.h"
#include "cluster/cluster.h"
#include "config/behaviour.h"

namespace berth::sim {

struct Entity {
  std::shared_ptr<const api::PodGroup> group;  // null: a pod by itself
  std::vector<cluster::PodId> pods;            // in the order in which they are tried
};

// `pods` in the order of the queue, those of one group together: by the priority of pod or group,
// then by the place of the first pod in `pods`. A pod whose group is not in the cluster is by
// itself; PreEnqueue holds it back. Without Behaviour::pod_groups, and where no pod names a group,
// every pod is an entity, in the order given.
std::vector<Entity> EntitiesOf(const cluster::Cluster& cluster, const config::Behaviour& behaviour,
                               std::span<const cluster::PodId> pods);

}  // namespace berth::sim

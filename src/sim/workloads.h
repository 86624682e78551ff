// Workloads: the pods that controllers would create for a Deployment, StatefulSet, Job and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"

namespace berth::sim {

// What a controller would create. Names are numbered instead of random, so runs can be compared.
struct Expansion {
  std::vector<api::Pod> pods;
  std::vector<api::PersistentVolumeClaim>
      claims;  // of StatefulSets; by name, whether they exist already or not
  std::optional<api::ReplicaSet> replica_set;  // of Deployments
};

// Is `object` of a kind that creates pods?
bool IsWorkload(const api::Object& object);

// How many pods `object` specifies; 0 for DaemonSets, where it depends on the nodes, and for kinds
// that create none.
int64_t ReplicasAsked(const api::Object& object);

// All pods of `object`; `replicas`, if given, overrides that number. `nodes` are the candidates of
// a DaemonSet. Empty for kinds that create no pods, for suspended jobs and cron jobs.
Expansion Expand(const api::Object& object, const std::vector<api::Node>& nodes,
                 std::optional<int32_t> replicas = std::nullopt);

}  // namespace berth::sim

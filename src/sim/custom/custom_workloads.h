// Workloads of custom resources: the Jobs of a JobSet (jobset.x-k8s.io), the StatefulSets of a
// LeaderWorkerSet (leaderworkerset.x-k8s.io) and the PodGroups of a Workload (scheduling.k8s.io),
// as their controllers would create them.
#pragma once

#include <vector>

#include "api/object.h"
#include "api/unknown_object.h"

namespace berth::sim {

// Is it one of these kinds?
bool IsCustomWorkload(const api::UnknownObject& object);

// The objects of built-in kinds that stand for it, in the namespace of `object`, which is not
// empty. None of what is suspended. An error names the field that is wrong, or says that it asks
// for too many.
//
// A Workload has no effect on scheduling; pods name a PodGroup. The group of a template is called
// WORKLOAD-TEMPLATE, so that hand-written pods can name it.
Result<std::vector<api::Object>> ExpandCustom(const api::UnknownObject& object);

// What the webhook of LeaderWorkerSet adds to a pod with its labels: the index of group and worker,
// the keys of group and subgroup, and the affinity of exclusive placement. Other pods stay as they
// are.
void AdmitLeaderWorkerPod(api::Pod& pod);

// custom/job_set.cc, leader_worker_set.cc, workload.cc
Result<std::vector<api::Object>> ExpandJobSet(const api::UnknownObject& object);
Result<std::vector<api::Object>> ExpandLeaderWorkerSet(const api::UnknownObject& object);
Result<std::vector<api::Object>> ExpandSchedulingWorkload(const api::UnknownObject& object);

// So many Jobs or groups of pods are made of one object at most.
inline constexpr int64_t kMaxParts = 100'000;

}  // namespace berth::sim

// Pod groups in the simulated cluster: the group that a Job gets, and the finalizer that keeps a
// group as long as pods use it.
#pragma once

#include <optional>
#include <string>

#include "apiserver/sim/world.h"

namespace berth::apiserver {

inline constexpr std::string_view kPodGroupProtection = "scheduling.k8s.io/podgroup-protection";

// Takes the finalizer off groups that are being deleted and that no active pod names.
void AddPodGroupProtection(World& world);

// What the Job controller does with the gate WorkloadWithJob: a Job without a controller whose
// template names no group gets a Workload and a PodGroup from spec.scheduling, before its first
// pod. Without spec.scheduling the group has no minimum; the minimum of a gang is the parallelism
// unless it is given, and follows it.
struct JobGroup {
  bool ready = true;  // false: the group could not be created; the Job is to be looked at again
  std::string name;   // for spec.schedulingGroup of the pods; empty: none
};
// `is_new`: it has no pods and never had any, so the group may be created.
JobGroup EnsureJobGroup(World& world, const Json& job, const StoredObject& object, bool is_new);

}  // namespace berth::apiserver

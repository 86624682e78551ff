// The name people know a pod's workload by.
#pragma once

#include <string>

#include "api/core/pod.h"

namespace berth::sim {

// The owner that controls the pod, null: none.
const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata);

// "Deployment shop/web" of a pod of the ReplicaSet web-5d4f; "StatefulSet shop/db"; of pods without
// a controller "Pod shop/batch-*" if a number ends their names, otherwise "Pod shop/batch".
std::string WorkloadName(const api::Pod& pod);

}  // namespace berth::sim

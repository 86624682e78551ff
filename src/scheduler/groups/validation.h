// What the pods of one group must have in common.
#pragma once

#include <span>
#include <string>

#include "base/function_ref.h"
#include "cluster/cluster.h"
#include "config/behaviour.h"
#include "framework/points/pod_group.h"

namespace berth::scheduler {

// Why the group cannot be scheduled; empty: it can. Pods that have a node count too. `knows`:
// is there a profile for a schedulerName?
std::string WhyInvalid(const cluster::Cluster& cluster, const framework::PodGroupInfo& info,
                       const config::Behaviour& behaviour,
                       FunctionRef<bool(const std::string&)> knows);

}  // namespace berth::scheduler

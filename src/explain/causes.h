// Root causes: facts about a pod that no node of the cluster can satisfy as it is, and which pods
// belong to the same workload.
#pragma once

#include <vector>

#include "api/core/pod.h"
#include "explain/report.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

// Each names the object, label or amount, and what to run or create. `source` needs its cluster and
// nodes.
std::vector<Cause> RootCauses(const scheduler::Source& source, const api::Pod& pod);

// Is a pod of `others` a replica of the workload of `pod`? Evicting it would only trade places.
bool AnySibling(const cluster::Cluster& cluster, cluster::PodId pod,
                const std::vector<cluster::PodId>& others);
// Removes candidates with such victims.
void DropSiblingVictims(const scheduler::Source& source, cluster::PodId pod, PreemptionView* view);

}  // namespace berth::explain

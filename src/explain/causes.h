// Causes: what keeps a pod from every node. Root causes are facts that no node of the cluster can
// satisfy as it is; the others follow from the changes that would help.
#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "explain/report.h"
#include "explain/workload.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

// Each names the object, label or amount, and what to run or create. `source` needs its cluster and
// nodes.
std::vector<Cause> RootCauses(const scheduler::Source& source, const api::Pod& pod);

// Is a pod of `others` a replica of the workload of `pod`? Evicting it would only trade places.
bool AnySibling(const cluster::Cluster& cluster, cluster::PodId pod,
                const std::vector<cluster::PodId>& others);

// Appends what the changes that helped say about the pod, the most specific first. `message`: why
// it fits nowhere, named when nothing helped.
void AddCausesOf(const std::vector<Suggestion>& helped, const Workload& workload,
                 const std::string& message, std::vector<Cause>* causes);

}  // namespace berth::explain

// Alignment of a pod with the NUMA cells of one node, as the original predicts the kubelet's
// admission under the policy single-numa-node. Nodes with other policies are not judged.
//
// Known to differ from the kubelet: sidecars are not added up, CPUs of init containers are not
// kept, and fractions of CPUs count as if they were pinned.
#pragma once

#include <cstdint>
#include <string>

#include "base/function_ref.h"
#include "plugins/node_resource_topology/node_topology.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {

enum class Misfit : uint8_t {
  kNone,
  kInitContainer,
  kSidecar,
  kContainer,
  kPod,
  kNegative,  // two zones carry the number of one cell, and one of them has too little
};

// `has`: does the node have any of the resource? `error` explains kNegative.
Misfit Align(const PodNeeds& pod, const NodeTopology& topology,
             FunctionRef<bool(const std::string&)> has, std::string* error);

}  // namespace berth::plugins::node_resource_topology

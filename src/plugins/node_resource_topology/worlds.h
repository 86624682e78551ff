// Worlds: whether a node's kubelet admits a pod whatever it does with the pods on their way to it.
#pragma once

#include <span>

#include "plugins/node_resource_topology/kubelet_node.h"

namespace berth::plugins::node_resource_topology {

// Pods on their way to one node that are followed, the new one included.
inline constexpr size_t kMostInFlight = 6;

// True when `pod` and all of `in_flight` are admitted, in every order in which the kubelet may see
// them.
bool FitsInEveryWorld(const KubeletNode& node, const CellUse& published,
                      std::span<const KubeletPod* const> in_flight, const KubeletPod& pod);

}  // namespace berth::plugins::node_resource_topology

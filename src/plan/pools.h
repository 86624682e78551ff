// Which pool a node belongs to, by the label of its provider.
#pragma once

#include <string_view>

#include "api/core/node.h"

namespace berth::plan {

// Labels that name the pool of a node, in the order in which they count.
inline constexpr std::string_view kPoolLabels[] = {
    "pool",
    "nodepool",
    "node-pool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "karpenter.sh/nodepool",
};

// Empty: none of the labels is there.
inline std::string_view PoolOf(const api::Node& node) {
  for (const std::string_view key : kPoolLabels) {
    if (const std::string* pool = api::FindValue(node.metadata.labels, key)) return *pool;
  }
  return "";
}

}  // namespace berth::plan

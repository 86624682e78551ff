// The CPUs of a node, those that are reserved for the system among them.
#pragma once

#include "cluster/cluster.h"
#include "cluster/inputs.h"
#include "cluster/table/node_capacity.h"

namespace berth::plugins {

// What a plugin that calls CpuCapacity has to name.
inline cluster::PluginInputs CpuCapacityInput() {
  return {.kinds = {},
          .node_annotations = {std::string(cluster::kMilliCpuCapacity)},
          .pod_annotations = {}};
}

// In thousandths.
inline double CpuCapacity(const cluster::Cluster& cluster, cluster::NodeIndex node) {
  return static_cast<double>(
      cluster::MilliCpuCapacity(cluster.NodeAnnotation(node, cluster::kMilliCpuCapacity)));
}

}  // namespace berth::plugins

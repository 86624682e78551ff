// What sources of metrics answer about the load of nodes, read into cluster::NodeLoad.
//
// Values are percent of a node's capacity. Numbers that are not finite, and nodes without
// capacity, are left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/table/load_metrics.h"
#include "config/metrics_sources.h"
#include "kube/metrics/node_capacities.h"

namespace berth::kube {

using LoadByNode = std::map<std::string, cluster::NodeLoad, std::less<>>;

// A NodeMetricsList of metrics.k8s.io/v1beta1. `now`: Unix seconds of the request, the end of the
// window as load-watcher states it.
Result<LoadByNode> ReadMetricsServer(std::string_view json, const NodeCapacities& nodes,
                                     int64_t now);

// The answer of Prometheus to one query; appends a metric to every node that it has a sample of.
Result<void> ReadPrometheus(std::string_view json, const config::MetricsQuery& query,
                            std::string_view node_label, int64_t now, LoadByNode* loads);

// The answer of load-watcher to GET /watcher.
Result<LoadByNode> ReadLoadWatcher(std::string_view json);

}  // namespace berth::kube

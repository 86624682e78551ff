// The load of a node as NodeMetrics::values carry it: what a source of metrics said, in its order.
//
// A source gives a list of metrics per node, each with a type (CPU, Memory), an operator (AVG, STD,
// Latest) and a value in percent of the node's capacity, over a window of time. Plugins of one
// configuration may have different sources, so every key begins with the name of the source; keys
// without a name serve plugins whose source said nothing.
//
//   load@SOURCE:end               the end of the window, in seconds since 1970
//   load@SOURCE:measured          when the node was measured, where the source says so
//   load@SOURCE:00/CPU/AVG        the first metric
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cluster/table/node_values.h"

namespace berth::cluster {

inline constexpr std::string_view kLoadEnd = "end";
inline constexpr std::string_view kLoadMeasured = "measured";
inline constexpr size_t kMaxLoadMetrics = 100;  // of a node; more are left out

struct LoadMetric {
  std::string type;       // "CPU", "Memory"
  std::string operator_;  // "AVG", "STD", "Latest" or empty
  double percent = 0;

  bool operator==(const LoadMetric&) const = default;
};

// What a source said about one node.
struct NodeLoad {
  int64_t window_end = 0;  // seconds since 1970
  std::vector<LoadMetric> metrics;
  int64_t measured_ns = 0;  // Unix; 0: the source does not say

  bool operator==(const NodeLoad&) const = default;
};

// `source`: empty for all that have none of their own.
inline std::string LoadKeyPrefix(std::string_view source) {
  return source.empty() ? "load:" : fmt::format("load@{}:", source);
}

// Adds the keys of `load` to `metrics`.
inline void AddLoad(std::string_view source, const NodeLoad& load, NodeMetrics* metrics) {
  const std::string prefix = LoadKeyPrefix(source);
  metrics->values[prefix + std::string(kLoadEnd)] = static_cast<double>(load.window_end);
  if (load.measured_ns != 0) {
    metrics->values[prefix + std::string(kLoadMeasured)] =
        static_cast<double>(load.measured_ns) / 1e9;
  }
  for (size_t i = 0; i < load.metrics.size() && i < kMaxLoadMetrics; ++i) {
    const LoadMetric& metric = load.metrics[i];
    metrics->values[fmt::format("{}{:02}/{}/{}", prefix, i, metric.type, metric.operator_)] =
        metric.percent;
  }
}

}  // namespace berth::cluster

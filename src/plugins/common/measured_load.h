// MeasuredLoad: what a plugin's source of metrics last said about the load of a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/cluster.h"

namespace berth::plugins {

// Percent of the node's capacity.
struct ResourceLoad {
  bool known = false;
  double average = 0;
  double deviation = 0;
};

struct MeasuredLoad {
  int64_t window_end = 0;  // seconds since 1970
  double measured = 0;     // when the node was measured, seconds since 1970; 0: unknown
  // The average or latest use of CPUs; a source may give several.
  std::optional<double> first_cpu;
  std::optional<double> last_cpu;
  ResourceLoad cpu;
  ResourceLoad memory;
};

class LoadReader {
 public:
  // `source`: config::TrimaranSpec::SourceName.
  explicit LoadReader(std::string_view source);

  // False: nothing was measured, or the last answer of the source lacks the node.
  bool Read(const cluster::Cluster& cluster, cluster::NodeIndex node, MeasuredLoad* load) const;

 private:
  const std::string prefix_;
};

}  // namespace berth::plugins

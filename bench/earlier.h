// The figures of an earlier run, as `berth-bench --json` printed them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace berth::bench {

class Earlier {
 public:
  // Reads lines of JSON, one object per workload.
  static Result<Earlier> Parse(const std::string& text);

  // The median of a workload on as many nodes, in µs.
  std::optional<double> Median(const std::string& workload, int64_t nodes) const;

 private:
  std::map<std::pair<std::string, int64_t>, double> medians_;
};

}  // namespace berth::bench

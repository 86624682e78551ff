#include "plugins/common/min_max.h"

#include <algorithm>
#include <cstdint>

#include "base/wrap.h"
#include "framework/points/plugin.h"

namespace berth::plugins {

void MinMaxNormalize(const framework::NodeSet& feasible, framework::ScoreColumn& column) {
  if (column.IsUniform()) return column.SetUniform(0);
  int64_t* scores = column.Dense();
  int64_t highest = -INT64_MAX;
  int64_t lowest = INT64_MAX;
  feasible.ForEach([&](cluster::NodeIndex n) {
    highest = std::max(highest, scores[n]);
    lowest = std::min(lowest, scores[n]);
  });
  const int64_t range = WrapSub(highest, lowest);
  if (range == 0) return column.SetUniform(0);
  feasible.ForEach([&](cluster::NodeIndex n) {
    scores[n] = WrapDiv(WrapMul(WrapSub(scores[n], lowest), framework::kMaxNodeScore), range);
  });
}

}  // namespace berth::plugins

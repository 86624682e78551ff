#include "plugins/common/utilization_scores.h"

#include "framework/points/plugin.h"

namespace berth::plugins {
namespace {

int64_t ScoreAt(const std::vector<config::UtilizationShapePoint>& shape, int64_t p) {
  constexpr int64_t kScale = framework::kMaxNodeScore / 10;  // the shape speaks in 0..10
  for (size_t i = 0; i < shape.size(); ++i) {
    if (p > shape[i].utilization) continue;
    const int64_t here = shape[i].score * kScale;
    if (i == 0) return here;
    const int64_t before = shape[i - 1].score * kScale;
    return before + (here - before) * (p - shape[i - 1].utilization) /
                        (shape[i].utilization - shape[i - 1].utilization);
  }
  return shape.back().score * kScale;
}

}  // namespace

UtilizationScores MakeUtilizationScores(const std::vector<config::UtilizationShapePoint>& shape) {
  UtilizationScores scores{};
  for (size_t p = 0; p < scores.size(); ++p) scores[p] = ScoreAt(shape, static_cast<int64_t>(p));
  return scores;
}

}  // namespace berth::plugins

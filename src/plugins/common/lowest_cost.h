// The normalisation of costs: the lowest becomes 100, the highest 0, in proportion, truncated. So
// only nodes with the very lowest cost score 100.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "framework/points/batch.h"
#include "framework/points/plugin.h"

namespace berth::plugins {

// The raw score of a node about which nothing is known: it scores the mean of the others.
inline constexpr int64_t kUnknownCost = INT64_MAX;

// REQUIRES: costs from -10^15 to 10^15, or kUnknownCost.
inline void LowestCostIsBest(const framework::NodeSet& feasible, framework::ScoreColumn& column) {
  if (column.IsUniform()) return column.SetUniform(framework::kMaxNodeScore);
  int64_t* scores = column.Dense();
  int64_t highest = INT64_MIN;
  int64_t lowest = INT64_MAX;
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kUnknownCost) return;
    highest = std::max(highest, scores[n]);
    lowest = std::min(lowest, scores[n]);
  });
  if (highest <= lowest) return column.SetUniform(framework::kMaxNodeScore);
  const int64_t range = highest - lowest;
  int64_t sum = 0;
  int64_t known = 0;
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kUnknownCost) return;
    scores[n] = framework::kMaxNodeScore * (highest - scores[n]) / range;
    sum += scores[n];
    ++known;
  });
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kUnknownCost) scores[n] = sum / known;
  });
}

// As a raw score, in thousandths.
inline int64_t RawCost(double cost) {
  constexpr double kLimit = 1e15;
  return static_cast<int64_t>(std::llround(std::clamp(cost * 1000, -kLimit, kLimit)));
}

}  // namespace berth::plugins

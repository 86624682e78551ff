// Scores by utilisation: a shape of points, as configurations draw it, read off at every whole
// percentage.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/plugin_args.h"

namespace berth::plugins {

// By percentage. Points are joined by straight lines; beyond the first and the last it is flat.
using UtilizationScores = std::array<int64_t, 101>;

// REQUIRES: `shape` is valid, so not empty.
UtilizationScores MakeUtilizationScores(const std::vector<config::UtilizationShapePoint>& shape);

}  // namespace berth::plugins

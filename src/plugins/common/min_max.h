// The normalisation of the plugins of scheduler-plugins: the smallest raw score becomes 0, the
// largest 100.
#pragma once

#include "framework/points/batch.h"

namespace berth::plugins {

// score = 100 * (raw - smallest) / (largest - smallest), truncated; all 0 when all are equal.
// Differences that int64 cannot hold wrap around, as in Go.
void MinMaxNormalize(const framework::NodeSet& feasible, framework::ScoreColumn& column);

}  // namespace berth::plugins

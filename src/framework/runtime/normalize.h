// The normalisation most plugins share: the largest raw score becomes 100, or 0 when reversed.
#pragma once

#include "framework/points/batch.h"

namespace berth::framework {

// score = 100 * raw / largest, or 100 minus that. When no raw score is above 0 all become 0 (100
// when reversed).
void DefaultNormalize(const NodeSet& feasible, bool reverse, ScoreColumn& column);

}  // namespace berth::framework

// Gangs: how long the cycle of a whole pod group takes, by the size of the group, how many kinds of
// pods it has and how many topology domains it may go to.
#pragma once

#include <cstddef>

#include "config/feature_gates.h"
#include "scheduler/algorithm.h"

namespace berth::bench {

struct GangOptions {
  size_t nodes = 5000;
  size_t repeats = 20;        // cycles per row
  size_t size = 0;            // pods; 0: all sizes
  size_t domains = SIZE_MAX;  // 0: no topology; SIZE_MAX: all numbers
  scheduler::AlgorithmOptions algorithm;
  config::FeatureGates gates;  // of 1.37; those of groups are set here
  bool json = false;           // an object per row, not a table
};

// Prints a table or JSON. Returns the exit code.
int RunGangs(const GangOptions& options);

}  // namespace berth::bench

// berth-bench --scheduler-perf: runs workloads of a scheduler_perf file and prints what they took.
#pragma once

#include <string>

#include "base/error.h"
#include "config/feature_gates.h"
#include "framework/points/executor.h"
#include "scheduler/algorithm.h"

namespace berth::bench {

struct PerfCommand {
  std::string file;
  std::string pattern;  // of TESTCASE/WORKLOAD; empty: all
  scheduler::AlgorithmOptions algorithm;
  framework::Executor* executor = nullptr;
  config::FeatureGates gates;  // before those that the file sets
  bool json = false;
};

// The exit code. A workload that fails is reported, and the others run.
int RunPerfCommand(const PerfCommand& command);

}  // namespace berth::bench

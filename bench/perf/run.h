// RunWorkload: carries out the operations of one scheduler_perf workload and measures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "bench/perf/host.h"
#include "bench/perf/suite.h"

namespace berth::bench {

// Reads a file; paths are those of the suite, relative to the folder of its file.
using FileReader = FunctionRef<Result<std::string>(const std::string& path)>;

// What was measured between the start and the end of a collection.
struct PerfPhase {
  std::string name;  // of the namespace, or what the file calls it
  PerfCounters counters;
  int64_t without_node = 0;  // pods that should have been scheduled

  double PodsPerSecond() const;
  double MicrosPerAttempt() const;
};

struct PerfOutcome {
  std::vector<PerfPhase> phases;
  std::string skipped;  // why it was not run
  size_t nodes = 0;
};

struct PerfOptions {
  scheduler::AlgorithmOptions algorithm;
  framework::Executor* executor = nullptr;
  config::FeatureGates gates;  // before those that the file sets; the Kubernetes minor is theirs
  // Called now and then with the number of pods bound so far.
  std::function<void(int64_t)> progress;
};

// Errors name the operation and the file, if one is to blame.
Result<PerfOutcome> RunWorkload(const PerfCase& test, const PerfWorkload& workload,
                                const FileReader& read, const PerfOptions& options);

}  // namespace berth::bench

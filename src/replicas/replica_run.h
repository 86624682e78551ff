// ReplicaRun: several replicas and one API server under faults, determined by a seed.
//
// Replicas are paused between any two of their actions for longer than the Lease, crash, are asked
// to end, are cut off from the server or from the Lease alone, and have clocks that run up to ten
// per cent too fast or too slow and wall clocks that jump. The server takes its time with writes,
// watches stall, answers are lost. Pods come and go all the while, more than fit. In the end all
// of it stops and the cluster must come to rest with no pod forgotten.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "config/behaviour.h"
#include "replicas/bugs.h"
#include "sim/host/event_loop.h"

namespace berth::replicas {

struct RunOptions {
  uint64_t seed = 1;
  int64_t steps = 600;
  int64_t replicas = 2;
  config::Behaviour behaviour = {};
  Bug bug = Bug::kNone;
  bool shares_work = false;                          // the leader's
  std::function<void(std::string_view)> trace = {};  // a line per occurrence; may be empty
};

struct RunOutcome {
  std::string violation;  // empty: all invariants held
  int64_t step = 0;       // at which it was found; all steps when it was found at rest
  sim::Nanos time = 0;    // virtual
  uint64_t bindings = 0;
  uint64_t takeovers = 0;
  uint64_t faults = 0;
  uint64_t carried = 0;  // tasks that hands have carried out
};

RunOutcome RunReplicas(const RunOptions& options);

}  // namespace berth::replicas

// SeedRun: one simulated cluster from its first node to rest, determined by a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "config/behaviour.h"
#include "scheduler/engine.h"
#include "scheduler/tap.h"
#include "sim/chaos/profile.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

struct SeedOptions {
  uint64_t seed = 1;
  int64_t steps = 300;
  const ChaosProfile* profile = nullptr;
  config::Behaviour behaviour = {};
  scheduler::PlantedBug planted_bug = scheduler::PlantedBug::kNone;
  // Called with a line per occurrence; may be empty.
  std::function<void(const std::string&)> trace = {};
  scheduler::EngineTap* tap = nullptr;  // of every engine of the run; may be null
};

struct SeedOutcome {
  std::string violation;  // empty: all invariants held
  int64_t step = 0;       // at which it was found; all steps when it was found at rest
  Nanos time = 0;         // virtual
  // Statistics of the run.
  uint64_t attempts = 0;
  uint64_t bindings = 0;
  uint64_t preemptions = 0;
  uint64_t crashes = 0;
  uint64_t faults = 0;
  uint64_t takeovers = 0;  // of runs with several replicas
};

// REQUIRES: options.profile.
SeedOutcome RunSeed(const SeedOptions& options);

}  // namespace berth::sim

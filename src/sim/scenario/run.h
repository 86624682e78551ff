// RunScenario: runs a scenario in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "scheduler/profile_set.h"
#include "scheduler/tap.h"
#include "sim/host/event_loop.h"
#include "sim/record/scenario_report.h"
#include "sim/scenario/scenario.h"

namespace berth::sim {

struct RunOptions {
  Nanos duration = 0;      // > 0
  Nanos sample_every = 0;  // 0: a 120th of the duration, at least a second
  uint64_t seed = 0;
  bool adaptive_sampling = false;
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
  std::vector<scheduler::ExtraPlugin> extra_plugins = {};
  // Gets what the engines take in and decide. May be null.
  scheduler::EngineTap* tap = nullptr;
  // Called periodically with the progress of virtual time.
  std::function<void(Nanos)> progress;
};

// Equal scenarios and options give equal reports. An error names the event that failed.
Result<ScenarioReport> RunScenario(const Scenario& scenario, const RunOptions& options);

}  // namespace berth::sim

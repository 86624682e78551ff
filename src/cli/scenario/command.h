// berth simulate --scenario: reads a scenario, runs it and prints its report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/behaviour.h"
#include "config/feature_gates.h"

namespace berth::cli {

struct ScenarioCommand {
  std::string scenario;
  std::vector<std::string> files;  // manifests besides the scenario's own
  std::string config;              // instead of the scenario's
  std::vector<std::string> plugin_paths;
  std::string output = "table";     // table, json or yaml
  std::string html;                 // a page to write; empty: none
  std::optional<int64_t> duration;  // nanoseconds; instead of the scenario's
  std::optional<int64_t> seed;      // instead of the scenario's
  std::string record_dir;           // for a recording; empty: none
  bool adaptive_sampling = false;
  config::FeatureGates gates = {};  // of the behaviour
  config::Behaviour behaviour = {};
};

// How many pods are pending at the end.
Result<int64_t> RunScenarioCommand(const ScenarioCommand& command);

}  // namespace berth::cli

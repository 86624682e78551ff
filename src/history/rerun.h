// Rerun: the history in a recording, scheduled again in virtual time under given rules.
//
// A model of the API server answers in place of the recorded answers (sim/host), so decisions may
// differ from the recorded ones and have consequences. Extenders are not called. Equal recordings
// and options give equal results.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/rules/label_selector.h"
#include "base/error.h"
#include "config/config.h"
#include "history/pool_use.h"
#include "plan/prices.h"
#include "record/records.h"
#include "record/segment_files.h"
#include "scheduler/profile_set.h"
#include "sim/record/scenario_report.h"

namespace berth::history {

// What decides.
struct Rules {
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
  uint64_t seed = 0;
  std::vector<scheduler::ExtraPlugin> extra_plugins = {};
};

// The rules that the first engine of a run was made with. Fails for what this berth cannot make.
Result<Rules> RulesOf(const record::Begin& begin,
                      const std::vector<scheduler::ExtraPlugin>& extra_plugins);

struct RerunOptions {
  record::RunFiles run;
  std::optional<int64_t> until_ns;
  Rules rules;
  std::vector<api::Node> added_nodes;            // are there from the beginning
  std::optional<api::Selector> drained;          // nodes
  plan::PriceList prices;                        // of nodes
  std::function<void(uint64_t bytes)> progress;  // called now and then with what has been read
};

// What became of a pod. Keys of pods are "namespace/name#N" for the Nth pod of that name.
struct PodResult {
  std::string workload;
  std::string recorded_node;  // empty: never bound
  std::string node;           // in the rerun; empty: never bound
  bool given = false;         // it had the recorded node when it was first seen
};

struct RerunResult {
  sim::ScenarioReport report;
  std::map<std::string, PodResult> pods;  // of the schedulers of the rules
  std::vector<PoolCost> pools;
  std::string damage;  // why the recording was not read to its end
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

Result<RerunResult> Rerun(const RerunOptions& options);

}  // namespace berth::history

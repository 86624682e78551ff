// Difference: what other rules would have changed, from two reruns of one history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "history/rerun.h"
#include "sim/record/scenario_report.h"

namespace berth::history {

// A figure under both rules.
struct Figure {
  std::string what;
  std::string unit;  // "pods", "seconds", "percent", …
  double recorded = 0;
  double other = 0;
  static const api::TypeInfo& Type();
};

// A pod that got another node, or a node in one of the reruns only: then the other is empty.
struct MovedPod {
  std::string pod;  // "namespace/name#N"
  std::string workload;
  std::string recorded;
  std::string other;
  static const api::TypeInfo& Type();
};

struct MovedWorkload {
  std::string workload;
  int64_t pods = 0;       // compared
  int64_t elsewhere = 0;  // on another node
  int64_t lost = 0;       // without a node under the other rules only
  int64_t gained = 0;     // without a node under the recorded rules only
  static const api::TypeInfo& Type();
};

// A pool of nodes under both rules.
struct PoolDifference {
  std::string pool;
  PoolCost recorded;
  PoolCost other;
  static const api::TypeInfo& Type();
};

// Lists without items are not in its JSON.
struct Difference {
  std::string from;  // time
  std::string to;
  std::string rules;  // what differs, in words
  // Compared. Pods that had a node from the beginning count only if they lost it.
  int64_t pods = 0;
  int64_t same = 0;  // on the same node, or on none, under both rules
  int64_t elsewhere = 0;
  int64_t lost = 0;
  int64_t gained = 0;
  // Of the pods that were bound when recorded, those that the rerun under the recorded rules put on
  // the same node: how closely the model repeats what happened.
  int64_t recorded_bound = 0;
  int64_t repeated = 0;
  std::vector<Figure> figures;
  bool priced = false;                   // there are prices
  std::vector<PoolDifference> pools;     // by name
  std::vector<MovedWorkload> workloads;  // most changed first
  std::vector<MovedPod> moved;           // up to 1000
  std::string damage;                    // the recording was read up to here
  sim::ScenarioReport recorded;
  sim::ScenarioReport other;
  static const api::TypeInfo& Type();
};

// `rules`: as in Difference. `priced`: the reruns had prices.
Difference Compare(const RerunResult& recorded, const RerunResult& other, std::string rules,
                   bool priced = false);

}  // namespace berth::history

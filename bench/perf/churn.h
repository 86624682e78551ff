// Churn: objects that come and go by the clock while something else is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/object.h"
#include "bench/perf/host.h"

namespace berth::bench {

struct ChurnPlan {
  std::string namespace_;
  std::vector<api::Object> templates;  // one object of each at every tick
  // Creates `number` of each in turn, then deletes these in turn, and so on. Otherwise creates
  // `number` of each and stops; 0: never stops.
  bool recreates = false;
  int64_t number = 0;
  sim::Nanos interval = 0;
};

// Goes on as long as the host's loop runs. REQUIRES: plan.number > 0 if it recreates.
void StartChurn(PerfHost& host, ChurnPlan plan);

bool IsClusterScoped(const api::Object& object);

}  // namespace berth::bench

// The decision on a pod as it was made, from a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/plugins.h"
#include "cli/replay/choose_run.h"
#include "explain/explainer.h"

namespace berth::cli {

struct RecordedDecision {
  explain::DecisionView view;
  uint32_t run = 0;
  uint64_t sequence = 0;  // of the record that ran the cycle
};

// The last decision on the pod up to `run.time_ns`, or of the run. An equal engine plays the run
// twice: to find the decision, and up to it. What is explained is the state right before the cycle,
// so nothing has changed since.
Result<RecordedDecision> ExplainRecorded(const RunChoice& run, const std::string& namespace_,
                                         const std::string& name,
                                         const explain::ExplainOptions& options,
                                         const Plugins& plugins);

}  // namespace berth::cli

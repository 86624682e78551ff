// The decision of another scheduler on a pod, explained by berth, from a recording without
// scheduling (berth record).
#pragma once

#include <string>

#include "base/error.h"
#include "cli/explain/recorded.h"

namespace berth::cli {

// As ExplainRecorded: the last decision that was seen up to `until`. What is explained is the
// cluster right before the decision became visible.
Result<RecordedDecision> ExplainObserved(const record::RunFiles& run, std::optional<int64_t> until,
                                         const std::string& namespace_, const std::string& name,
                                         const explain::ExplainOptions& options,
                                         const Plugins& plugins);

}  // namespace berth::cli

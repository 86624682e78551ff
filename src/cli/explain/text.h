// An explanation as text for people, on 80 columns.
#pragma once

#include <string>

#include "scheduler/explain/report.h"

namespace berth::cli {

struct ExplainTextOptions {
  bool colour = false;
  std::string pod;  // "namespace/name"
};

// `suggestions` may be null.
std::string ExplainText(const berth::scheduler::explain::DecisionView& view,
                        const berth::scheduler::explain::SuggestionList* suggestions,
                        const ExplainTextOptions& options);

}  // namespace berth::cli

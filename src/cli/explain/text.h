// An explanation as text for people, on 80 columns.
#pragma once

#include <string>

#include "explain/report.h"

namespace berth::cli {

struct ExplainTextOptions {
  bool colour = false;
  std::string pod;  // "namespace/name"
};

// `suggestions` may be null.
std::string ExplainText(const berth::explain::DecisionView& view,
                        const berth::explain::SuggestionList* suggestions,
                        const ExplainTextOptions& options);

}  // namespace berth::cli

// berth replay of a recording without scheduling (berth record): berth decides about every pod too,
// and compares, as `berth shadow` does beside the running cluster.
#pragma once

#include <functional>

#include "base/error.h"
#include "cli/plugins.h"
#include "record/player.h"
#include "record/run_reader.h"
#include "shadow/summary.h"

namespace berth::cli {

struct ObservedOutcome {
  record::PlayOutcome played;
  shadow::Summary summary;

  bool Same() const { return played.Same() && summary.unexplained == 0; }
};

// Whether the run was recorded without scheduling. False too when its beginning cannot be read.
bool IsObserved(const record::RunFiles& run);

// Gets every comparison as it is settled.
using SeeComparison = std::function<void(const shadow::Comparison&)>;

// As record::Play; the observer gets no engine. What keeps the run from being compared is the
// outcome's trouble.
ObservedOutcome PlayObserved(record::RunReader& reader, const record::PlayOptions& options,
                             const SeeComparison& see = nullptr);

}  // namespace berth::cli

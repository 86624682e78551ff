// What `berth shadow` prints while it runs: a table that is drawn again and again on a terminal,
// lines in a pipe, or JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "shadow/comparison.h"
#include "shadow/summary.h"

namespace berth::cli {

// The state of the run beside its comparisons.
struct ShadowStatus {
  std::string server;
  std::string kubernetes_version;
  int64_t seconds = 0;  // since the start
  int64_t nodes = 0;
  int64_t pending = 0;
  int64_t open = 0;  // decisions that wait for the end of their window
  bool synced = false;
  double lag_seconds = 0;  // the window

  static const api::TypeInfo& Type();
};

struct Screen {
  size_t rows = 24;
  size_t columns = 80;
};

// Leaves a row free, and cuts lines; `latest` has the newest differences last.
std::string LiveTable(const ShadowStatus& status, const shadow::Summary& summary,
                      const std::vector<shadow::Comparison>& latest, Screen screen, bool colour);
// One line about a comparison.
std::string Line(const shadow::Comparison& comparison);
// The end of a run in a few lines.
std::string Conclusion(const shadow::Summary& summary, bool colour);

}  // namespace berth::cli

// A file of JSON lines, each checked for itself.
#pragma once

#include <string>

#include <simdjson.h>

#include "base/function_ref.h"

namespace berth::conformance {

// What came of a line.
struct Checked {
  std::string group;       // lines are counted by it
  std::string difference;  // both sides, to be shown; empty: the line matches
};

// Checks every line, shows the first differences and counts by group. Returns the exit code of a
// mode (runner.h).
int CheckLines(const std::string& file, FunctionRef<Checked(simdjson::dom::element line)> check);

}  // namespace berth::conformance

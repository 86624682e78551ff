// A plan for people, and as a script of kubectl commands.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.h"

namespace berth::cli {

struct PlanTextOptions {
  bool colour = false;
  size_t rows = 20;  // of the table of moves; the rest is counted
};

std::string PlanText(const plan::Plan& plan, const PlanTextOptions& options);

// Cordons, drains and, in the order of the plan, names what it leaves to the reader: creating and
// deleting machines. REQUIRES: the plan works.
std::string PlanScript(const plan::Plan& plan);

}  // namespace berth::cli

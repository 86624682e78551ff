// Checker: finds what can be known to be wrong with an expression before any device is seen,
// resolves names to slots and calls to the overloads that may apply.
#pragma once

#include <vector>

#include "plugins/dynamic_resources/cel/ast.h"
#include "plugins/dynamic_resources/cel/lexer.h"
#include "plugins/dynamic_resources/cel/types.h"

namespace berth::plugins::dynamic_resources::cel {

// The slot of the variable `device`; variables of macros follow.
inline constexpr int kDeviceSlot = 0;

struct CheckResult {
  Type type;                  // of the whole expression
  int slots = 1;              // how many variables are alive at most
  std::vector<Issue> issues;  // by position; empty: the tree may be evaluated
};
CheckResult Check(Ast* ast);

}  // namespace berth::plugins::dynamic_resources::cel

// Checker: finds what can be known to be wrong with an expression before any device is seen,
// resolves names to slots and calls to the overloads that may apply.
#pragma once

#include <vector>

#include "cel/ast.h"
#include "cel/lexer.h"
#include "cel/types.h"

namespace berth::cel {

// The slot of the variable `device`; variables of macros follow.
inline constexpr int kDeviceSlot = 0;

struct CheckResult {
  Type type;                  // of the whole expression
  int slots = 1;              // how many variables are alive at most
  std::vector<Issue> issues;  // by position; empty: the tree may be evaluated
};
CheckResult Check(Ast* ast);

}  // namespace berth::cel

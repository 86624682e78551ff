// Evaluator: computes the value of a checked tree for one device.
#pragma once

#include <vector>

#include "cel/ast.h"
#include "cel/functions.h"

namespace berth::cel {

// What evaluating an expression may cost, in Budget's units.
inline constexpr int64_t kCostLimit = 1000000;

// REQUIRES: `ast` was checked without issues and needs `slots` variables.
Value Evaluate(const Ast& ast, int slots, const Value& device, RegexCache& regexes);

// The value of a call whose arguments are all literals.
Value EvaluateConstant(const Ast& ast, const Node& call, RegexCache& regexes);

}  // namespace berth::cel

// Parser: from the text of a CEL expression to its tree, macros expanded to nodes of their own.
#pragma once

#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/lexer.h"

namespace berth::cel {

// How deep an expression may nest, brackets and operators together.
inline constexpr int kMaxParseDepth = 250;
// How deep its tree may be: a chain of binary operators is as deep as it is long.
inline constexpr int kMaxTreeDepth = 1000;

struct ParseResult {
  Ast ast;
  std::vector<Issue> issues;  // empty: the tree is complete
};
ParseResult Parse(std::string_view expression);

}  // namespace berth::cel

// The words of a CEL expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

enum class TokenKind : uint8_t {
  kEnd,
  kIdent,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTrue,
  kFalse,
  kNull,
  kPunctuation,  // text is the operator or bracket; `in` too
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t pos = 0;         // byte offset in the expression
  std::string_view text;  // as written; points into the expression
  std::string value;      // strings and bytes: unescaped
};

// What is wrong with an expression, and where.
struct Issue {
  size_t pos = 0;
  std::string message;
};

// All tokens and a kEnd, or the first issue.
struct LexResult {
  std::vector<Token> tokens;
  std::vector<Issue> issues;
};
LexResult Lex(std::string_view expression);

}  // namespace berth::cel

// The string form of a label selector.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "api/go/error_list.h"
#include "api/rules/label_selector.h"
#include "api/rules/qualified_name.h"

namespace berth::api {
namespace {

struct Token {
  enum Kind { kEnd, kWord, kIn, kNotIn, kOpen, kClose, kComma, kNot, kEq, kEqEq, kNe, kGt, kLt };

  Kind kind;
  std::string_view text;

  // "in" and "notin" are ordinary words except where an operator is expected.
  bool IsWord() const { return kind == kWord || kind == kIn || kind == kNotIn; }
};

// A NUL byte ends a token, and the text when it stands where a token begins.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token Next() {
    while (pos_ < text_.size() && IsBlank(text_[pos_])) ++pos_;
    if (pos_ == text_.size() || text_[pos_] == '\0') return {Token::kEnd, {}};
    const Token token = IsSymbol(text_[pos_]) ? Symbol() : Word();
    if (pos_ < text_.size() && text_[pos_] == '\0') ++pos_;
    return token;
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool IsSymbol(char c) {
    return c != '\0' && std::string_view("=!(),><").find(c) != std::string_view::npos;
  }

  Token Symbol() {
    const char c = text_[pos_];
    const bool two = (c == '=' || c == '!') && pos_ + 1 < text_.size() && text_[pos_ + 1] == '=';
    const std::string_view text = text_.substr(pos_, two ? 2 : 1);
    pos_ += text.size();
    switch (c) {
      case '(':
        return {Token::kOpen, text};
      case ')':
        return {Token::kClose, text};
      case ',':
        return {Token::kComma, text};
      case '>':
        return {Token::kGt, text};
      case '<':
        return {Token::kLt, text};
      case '!':
        return {two ? Token::kNe : Token::kNot, text};
      default:
        return {two ? Token::kEqEq : Token::kEq, text};
    }
  }

  Token Word() {
    const size_t start = pos_;
    while (pos_ < text_.size() && text_[pos_] != '\0' && !IsSymbol(text_[pos_]) &&
           !IsBlank(text_[pos_])) {
      ++pos_;
    }
    const std::string_view word = text_.substr(start, pos_ - start);
    return {word == "in" ? Token::kIn : word == "notin" ? Token::kNotIn : Token::kWord, word};
  }

  std::string_view text_;
  size_t pos_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), next_(lexer_.Next()) {}

  Result<std::vector<Requirement>> Run() {
    std::vector<Requirement> requirements;
    while (true) {
      if (next_.kind == Token::kEnd) return requirements;
      if (!next_.IsWord() && next_.kind != Token::kNot) {
        return Found(next_, ", expected: !, identifier, or 'end of string'");
      }
      Result<Requirement> r = ParseRequirement();
      if (!r) return Fail("unable to parse requirement: " + r.error().Message());
      requirements.push_back(std::move(*r));
      const Token after = Take();
      if (after.kind == Token::kEnd) return requirements;
      if (after.kind != Token::kComma) return Found(after, ", expected: ',' or 'end of string'");
      if (!next_.IsWord() && next_.kind != Token::kNot) {
        return Found(next_, ", expected: identifier after ','");
      }
    }
  }

 private:
  static tl::unexpected<Error> Found(const Token& token, std::string_view expected) {
    return Fail("found '" + std::string(token.text) + "'" + std::string(expected));
  }

  // The end is never passed: taking it again gives it again.
  Token Take() {
    const Token token = next_;
    if (token.kind != Token::kEnd) next_ = lexer_.Next();
    return token;
  }

  Result<Requirement> ParseRequirement() {
    Token key = Take();
    const bool absent = key.kind == Token::kNot;
    if (absent) key = Take();
    if (!key.IsWord()) return Found(key, ", expected: identifier");
    if (!IsQualifiedName(key.text)) {
      std::string reasons;
      for (const std::string& reason : QualifiedNameErrors(key.text)) {
        if (!reasons.empty()) reasons += "; ";
        reasons += reason;
      }
      return Fail(InvalidString("", key.text, reasons));
    }
    if (absent) return Make(key.text, SelectorOperator::kDoesNotExist, {});
    if (next_.kind == Token::kEnd || next_.kind == Token::kComma) {
      return Make(key.text, SelectorOperator::kExists, {});
    }
    const Token op = Take();
    switch (op.kind) {
      case Token::kIn:
        return ParseSet(key.text, SelectorOperator::kIn);
      case Token::kNotIn:
        return ParseSet(key.text, SelectorOperator::kNotIn);
      case Token::kEq:
        return ParseValue(key.text, SelectorOperator::kEquals);
      case Token::kEqEq:
        return ParseValue(key.text, SelectorOperator::kDoubleEquals);
      case Token::kNe:
        return ParseValue(key.text, SelectorOperator::kNotEquals);
      case Token::kGt:
        return ParseValue(key.text, SelectorOperator::kGreaterThan);
      case Token::kLt:
        return ParseValue(key.text, SelectorOperator::kLessThan);
      case Token::kEnd:
      case Token::kWord:
      case Token::kOpen:
      case Token::kClose:
      case Token::kComma:
      case Token::kNot:
        break;
    }
    return Found(op, ", expected: in, notin, =, ==, !=, gt, lt");
  }

  Result<Requirement> ParseValue(std::string_view key, SelectorOperator op) {
    if (next_.kind == Token::kEnd || next_.kind == Token::kComma) return Make(key, op, {""});
    const Token value = Take();
    if (!value.IsWord()) return Found(value, ", expected: identifier");
    return Make(key, op, {std::string(value.text)});
  }

  // (a,b): words separated by commas. A comma without a word beside it adds the empty value.
  Result<Requirement> ParseSet(std::string_view key, SelectorOperator op) {
    const Token open = Take();
    if (open.kind != Token::kOpen) return Found(open, " expected: '('");
    if (next_.kind == Token::kClose) {
      Take();
      return Make(key, op, {""});
    }
    if (!next_.IsWord() && next_.kind != Token::kComma) {
      return Found(next_, ", expected: ',', ')' or identifier");
    }
    std::set<std::string> values;
    while (true) {
      const Token token = Take();
      if (token.IsWord()) {
        values.emplace(token.text);
        if (next_.kind == Token::kClose) break;
        if (next_.kind != Token::kComma) return Found(next_, ", expected: ',' or ')'");
      } else if (token.kind == Token::kComma) {
        if (values.empty()) values.emplace();
        if (next_.kind == Token::kClose) {
          values.emplace();
          break;
        }
        if (next_.kind == Token::kComma) {
          Take();
          values.emplace();
        }
      } else {
        return Found(token, ", expected: ',', or identifier");
      }
    }
    Take();
    return Make(key, op, {values.begin(), values.end()});
  }

  static Result<Requirement> Make(std::string_view key, SelectorOperator op,
                                  std::vector<std::string> values) {
    std::vector<std::string> errors;
    auto r = Requirement::Make(key, op, std::move(values), "", errors);
    if (!r) return Fail(JoinErrors(errors));
    return std::move(*r);
  }

  Lexer lexer_;
  Token next_;
};

}  // namespace

Result<Selector> Selector::Parse(std::string_view text) {
  Result<std::vector<Requirement>> requirements = Parser(text).Run();
  if (!requirements) return Fail(std::move(requirements.error()));
  return Selector(std::move(*requirements));
}

}  // namespace berth::api

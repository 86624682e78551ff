#include "bench/perf/template.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace berth::bench {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr size_t kMaxDepth = 32;

std::string_view TrimFront(std::string_view text) {
  const size_t start = text.find_first_not_of(kBlanks);
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

std::string_view TrimBack(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

// One operand, or a function and its two operands: `div .Index (mod .Count 3)`.
class Template::ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<std::vector<Term>> Parse() {
    if (auto ok = Command(0); !ok) return Fail(ok.error());
    if (const std::string_view word = Next(); !word.empty()) {
      return Fail(fmt::format("unexpected \"{}\"", word));
    }
    return std::move(terms_);
  }

 private:
  std::string_view Next() {
    text_ = TrimFront(text_);
    const size_t end =
        text_.starts_with('(') || text_.starts_with(')') ? 1 : text_.find_first_of(" \t\r\n()");
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(word.size());
    return word;
  }

  Result<void> Command(size_t depth) {
    if (depth > kMaxDepth) return Fail("parentheses are nested too deeply");
    const std::string_view word = Next();
    if (word != "div" && word != "mod") return Operand(word, depth);
    for (int i = 0; i < 2; ++i) {
      if (auto ok = Operand(Next(), depth); !ok) return ok;
    }
    terms_.push_back({word == "div" ? Term::Kind::kDiv : Term::Kind::kMod});
    return {};
  }

  Result<void> Operand(std::string_view word, size_t depth) {
    if (word == "(") {
      if (auto ok = Command(depth + 1); !ok) return ok;
      if (Next() != ")") return Fail("a \")\" is missing");
      return {};
    }
    if (word == ".Index") {
      terms_.push_back({Term::Kind::kIndex});
      return {};
    }
    if (word == ".Count") {
      terms_.push_back({Term::Kind::kCount});
      return {};
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Fail(word.empty() ? std::string("an operand is missing")
                               : fmt::format("\"{}\" is none of .Index, .Count, div, mod and "
                                             "integers, which is all that is known here",
                                             word));
    }
    terms_.push_back({Term::Kind::kNumber, number});
    return {};
  }

  std::string_view text_;
  std::vector<Term> terms_;
};

Result<Template> Template::Parse(std::string_view text) {
  Template result;
  std::string plain;
  bool trim_next = false;
  for (;;) {
    const size_t open = text.find("{{");
    std::string_view before = text.substr(0, open);
    if (trim_next) before = TrimFront(before);
    if (open == std::string_view::npos) {
      result.rest_ = plain + std::string(before);
      return result;
    }
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Fail("template: \"{{\" without \"}}\"");
    std::string_view action = text.substr(open + 2, close - open - 2);
    text.remove_prefix(close + 2);
    if (action.starts_with("- ")) {
      before = TrimBack(before);
      action.remove_prefix(2);
    }
    trim_next = action.ends_with(" -");
    if (trim_next) action.remove_suffix(2);
    plain += before;
    action = TrimBack(TrimFront(action));
    if (action.starts_with("/*")) {
      if (!action.ends_with("*/")) return Fail("template: a comment does not end");
      continue;
    }
    auto value = ExpressionParser(action).Parse();
    if (!value) return Fail(value.error().In(fmt::format("template: {{{{{}}}}}", action)));
    result.pieces_.push_back({std::exchange(plain, {}), std::move(*value)});
  }
}

Result<int64_t> Template::Evaluate(const std::vector<Term>& terms, int64_t index, int64_t count) {
  std::vector<int64_t> stack;
  for (const Term& term : terms) {
    switch (term.kind) {
      case Term::Kind::kNumber:
        stack.push_back(term.number);
        break;
      case Term::Kind::kIndex:
        stack.push_back(index);
        break;
      case Term::Kind::kCount:
        stack.push_back(count);
        break;
      case Term::Kind::kDiv:
      case Term::Kind::kMod: {
        const int64_t divisor = stack.back();
        stack.pop_back();
        if (divisor == 0) return Fail("template: division by zero");
        int64_t& value = stack.back();
        // -1 apart: the lowest number divided by it does not fit.
        if (divisor == -1) {
          value = term.kind == Term::Kind::kMod
                      ? 0
                      : static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(value));
        } else {
          value = term.kind == Term::Kind::kMod ? value % divisor : value / divisor;
        }
        break;
      }
    }
  }
  return stack.back();
}

Result<std::string> Template::Render(int64_t index, int64_t count) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += piece.before;
    const auto value = Evaluate(piece.value, index, count);
    if (!value) return Fail(value.error());
    text += std::to_string(*value);
  }
  return text + rest_;
}

}  // namespace berth::bench

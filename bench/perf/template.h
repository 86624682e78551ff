// Template: the object files of scheduler_perf, which are Go templates over YAML.
//
// What the suite uses of them: {{.Index}}, {{.Count}}, integers, {{div A B}}, {{mod A B}},
// parentheses, comments and trim marks. Anything else is an error that names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::bench {

class Template {
 public:
  static Result<Template> Parse(std::string_view text);

  // The text for object `index` of `count`.
  Result<std::string> Render(int64_t index, int64_t count) const;

  // Every object is the same.
  bool IsConstant() const { return pieces_.empty(); }

 private:
  // An expression in postfix order: operands are pushed, functions take two.
  struct Term {
    enum class Kind : uint8_t { kNumber, kIndex, kCount, kDiv, kMod };
    Kind kind = Kind::kNumber;
    int64_t number = 0;
  };
  struct Piece {
    std::string before;  // plain text
    std::vector<Term> value;
  };
  class ExpressionParser;

  static Result<int64_t> Evaluate(const std::vector<Term>& terms, int64_t index, int64_t count);

  std::vector<Piece> pieces_;
  std::string rest_;
};

}  // namespace berth::bench

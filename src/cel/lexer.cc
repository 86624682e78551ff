#include "cel/lexer.h"

#include <utility>

#include "api/go/go_text.h"

namespace berth::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The value of a hex digit, or -1.
int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  LexResult Run() {
    while (true) {
      SkipBlanks();
      if (pos_ >= text_.size()) break;
      if (!Next()) return std::move(result_);
    }
    result_.tokens.push_back({TokenKind::kEnd, text_.size(), {}, {}});
    return std::move(result_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  void SkipBlanks() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++pos_;
      } else if (c == '/' && At(pos_ + 1) == '/') {
        while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
      } else {
        return;
      }
    }
  }

  void Push(TokenKind kind, size_t begin, std::string value = {}) {
    result_.tokens.push_back({kind, begin, text_.substr(begin, pos_ - begin), std::move(value)});
  }

  bool FailAt(size_t pos, std::string message) {
    result_.issues.push_back({pos, std::move(message)});
    return false;
  }

  bool Next() {
    const char c = text_[pos_];
    if (IsDigit(c) || (c == '.' && IsDigit(At(pos_ + 1)))) return Number();
    if (size_t quote = StringStart(); quote != 0) return String(quote - 1);
    if (IsLetter(c)) return Word();
    if (c == '`') return EscapedIdent();
    return Punctuation();
  }

  bool Word() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && (IsLetter(text_[pos_]) || IsDigit(text_[pos_]))) ++pos_;
    const std::string_view word = text_.substr(begin, pos_ - begin);
    if (word == "true") {
      Push(TokenKind::kTrue, begin);
    } else if (word == "false") {
      Push(TokenKind::kFalse, begin);
    } else if (word == "null") {
      Push(TokenKind::kNull, begin);
    } else if (word == "in") {
      Push(TokenKind::kPunctuation, begin);
    } else {
      Push(TokenKind::kIdent, begin);
    }
    return true;
  }

  // `any.name-like/this` after a dot; not enabled in Kubernetes' environment.
  bool EscapedIdent() { return FailAt(pos_, "unsupported syntax: '`'"); }

  bool Number() {
    const size_t begin = pos_;
    bool is_double = false;
    if (text_[pos_] == '0' && (At(pos_ + 1) == 'x') && HexValue(At(pos_ + 2)) >= 0) {
      pos_ += 2;
      while (HexValue(At(pos_)) >= 0) ++pos_;
    } else {
      while (IsDigit(At(pos_))) ++pos_;
      if (At(pos_) == '.' && IsDigit(At(pos_ + 1))) {
        is_double = true;
        ++pos_;
        while (IsDigit(At(pos_))) ++pos_;
      }
      if ((At(pos_) == 'e' || At(pos_) == 'E') &&
          (IsDigit(At(pos_ + 1)) ||
           ((At(pos_ + 1) == '+' || At(pos_ + 1) == '-') && IsDigit(At(pos_ + 2))))) {
        is_double = true;
        pos_ += 2;
        while (IsDigit(At(pos_))) ++pos_;
      }
    }
    if (!is_double && (At(pos_) == 'u' || At(pos_) == 'U')) {
      ++pos_;
      Push(TokenKind::kUint, begin);
      return true;
    }
    Push(is_double ? TokenKind::kDouble : TokenKind::kInt, begin);
    return true;
  }

  // One more than the length of the prefix (r, b, rb, br) if a string literal starts here, else 0.
  size_t StringStart() const {
    size_t i = pos_;
    while (i < pos_ + 2 && (At(i) == 'r' || At(i) == 'R' || At(i) == 'b' || At(i) == 'B')) ++i;
    return At(i) == '"' || At(i) == '\'' ? i - pos_ + 1 : 0;
  }

  bool String(size_t prefix) {
    const size_t begin = pos_;
    bool raw = false;
    bool bytes = false;
    for (size_t i = 0; i < prefix; ++i) {
      const char c = text_[pos_ + i];
      (c == 'r' || c == 'R' ? raw : bytes) = true;
    }
    pos_ += prefix;
    const char quote = text_[pos_];
    const bool triple = At(pos_ + 1) == quote && At(pos_ + 2) == quote;
    pos_ += triple ? 3 : 1;
    std::string value;
    while (true) {
      if (pos_ >= text_.size() || (!triple && (text_[pos_] == '\n' || text_[pos_] == '\r'))) {
        return FailAt(begin, "Syntax error: token recognition error at: '" +
                                 std::string(text_.substr(begin)) + "'");
      }
      if (text_[pos_] == quote && (!triple || (At(pos_ + 1) == quote && At(pos_ + 2) == quote))) {
        pos_ += triple ? 3 : 1;
        break;
      }
      if (text_[pos_] == '\\' && !raw) {
        if (!Escape(begin, bytes, &value)) return false;
      } else {
        value += text_[pos_++];
      }
    }
    Push(bytes ? TokenKind::kBytes : TokenKind::kString, begin, std::move(value));
    return true;
  }

  bool Escape(size_t begin, bool bytes, std::string* value) {
    const char c = At(pos_ + 1);
    pos_ += 2;
    switch (c) {
      case 'a':
        *value += '\a';
        return true;
      case 'b':
        *value += '\b';
        return true;
      case 'f':
        *value += '\f';
        return true;
      case 'n':
        *value += '\n';
        return true;
      case 'r':
        *value += '\r';
        return true;
      case 't':
        *value += '\t';
        return true;
      case 'v':
        *value += '\v';
        return true;
      case '\\':
      case '\'':
      case '"':
      case '`':
      case '?':
        *value += c;
        return true;
      case 'x':
      case 'X':
        return Code(begin, 16, 2, bytes, value);
      case 'u':
        return bytes ? BadEscape(begin) : Code(begin, 16, 4, false, value);
      case 'U':
        return bytes ? BadEscape(begin) : Code(begin, 16, 8, false, value);
      case '0':
      case '1':
      case '2':
      case '3':
        --pos_;
        return Code(begin, 8, 3, bytes, value);
      default:
        return BadEscape(begin);
    }
  }

  bool BadEscape(size_t begin) {
    return FailAt(begin, "Syntax error: token recognition error at: '" +
                             std::string(text_.substr(begin, pos_ - begin)) + "'");
  }

  bool Code(size_t begin, int base, int digits, bool byte, std::string* value) {
    uint32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = HexValue(At(pos_));
      if (digit < 0 || digit >= base) return BadEscape(begin);
      code = code * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
      ++pos_;
    }
    if (byte) {
      *value += static_cast<char>(code);
      return true;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return FailAt(begin, "invalid string literal");
    }
    api::AppendUtf8(*value, code);
    return true;
  }

  bool Punctuation() {
    static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "&&", "||"};
    const size_t begin = pos_;
    for (std::string_view two : kTwo) {
      if (text_.substr(pos_).starts_with(two)) {
        pos_ += 2;
        Push(TokenKind::kPunctuation, begin);
        return true;
      }
    }
    static constexpr std::string_view kOne = "+-*/%<>!?:.,()[]{}";
    if (kOne.find(text_[pos_]) == std::string_view::npos) {
      bool valid = true;
      size_t end = pos_;
      api::DecodeUtf8(text_, &end, &valid);
      return FailAt(pos_, "Syntax error: token recognition error at: '" +
                              std::string(text_.substr(pos_, end - pos_)) + "'");
    }
    ++pos_;
    Push(TokenKind::kPunctuation, begin);
    return true;
  }

  std::string_view text_;
  size_t pos_ = 0;
  LexResult result_;
};

}  // namespace

LexResult Lex(std::string_view expression) { return Lexer(expression).Run(); }

}  // namespace berth::cel

#include "api/codec/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "api/go/go_text.h"

namespace berth::api {

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The end of the string that starts with the quote at `pos`; npos if it never ends.
size_t SkipString(std::string_view text, size_t pos) {
  for (++pos; pos < text.size(); ++pos) {
    if (text[pos] == '\\') {
      ++pos;
    } else if (text[pos] == '"') {
      return pos + 1;
    }
  }
  return std::string_view::npos;
}

// A number, true, false or null: everything up to the next punctuation.
size_t SkipScalar(std::string_view text, size_t pos) {
  constexpr std::string_view kEnd = " \t\r\n,:[]{}\"";
  return std::min(text.find_first_of(kEnd, pos), text.size());
}

size_t NumberEnd(std::string_view text, size_t pos) {
  while (pos < text.size() && (IsDigit(text[pos]) || std::strchr("+-.eE", text[pos]))) ++pos;
  return pos;
}

// Checks one JSON text from left to right; brackets are kept on an explicit stack.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::optional<std::string> Run() {
    Blanks();
    if (!Value()) return Report();
    while (!open_.empty()) {
      if (!Next()) return Report();
    }
    Blanks();
    if (pos_ < text_.size()) {
      Bad("after the end of the value");
      return Report();
    }
    return std::nullopt;
  }

 private:
  void Blanks() { pos_ = SkipJsonBlanks(text_, pos_); }
  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

  bool Bad(std::string_view where) {
    if (pos_ >= text_.size()) {
      problem_ = "unexpected end of the text";
    } else {
      problem_ = fmt::format("unexpected {} {}", GoQuote(text_.substr(pos_, 1)), where);
    }
    return false;
  }

  std::string Report() const {
    const std::string_view before = text_.substr(0, std::min(pos_, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return fmt::format("line {}, column {}: {}", line, column, problem_);
  }

  // One value; a container is only opened.
  bool Value() {
    const char c = Peek();
    if (c == '{' || c == '[') {
      if (open_.size() >= kMaxJsonDepth) {
        problem_ = fmt::format("nested deeper than {} levels", kMaxJsonDepth);
        return false;
      }
      open_ += c;
      fresh_ = true;
      ++pos_;
      return true;
    }
    fresh_ = false;
    if (c == '"') return String();
    if (c == '-' || IsDigit(c)) return Number();
    for (std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(pos_, word.size()) == word) {
        pos_ += word.size();
        return true;
      }
    }
    return Bad("looking for a value");
  }

  // One step inside the innermost container.
  bool Next() {
    Blanks();
    const bool object = open_.back() == '{';
    if (Peek() == (object ? '}' : ']')) {
      open_.pop_back();
      fresh_ = false;
      ++pos_;
      return true;
    }
    if (!fresh_) {
      if (Peek() != ',') return Bad(object ? "in an object" : "in an array");
      ++pos_;
      Blanks();
    }
    return object ? Member() : Value();
  }

  bool Member() {
    if (Peek() != '"') return Bad("looking for a field name");
    if (!String()) return false;
    Blanks();
    if (Peek() != ':') return Bad("after a field name");
    ++pos_;
    Blanks();
    return Value();
  }

  bool String() {
    for (++pos_; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == '"') {
        ++pos_;
        return true;
      }
      if (static_cast<uint8_t>(c) < 0x20) return Bad("in a string");
      if (c == '\\' && !Escape()) return Bad("in a string escape");
    }
    return Bad("in a string");
  }

  // At the backslash; ends at the last character of the escape.
  bool Escape() {
    ++pos_;
    if (Peek() != 'u') return Peek() != '\0' && std::strchr("\"\\/bfnrt", Peek());
    for (int i = 0; i < 4; ++i) {
      ++pos_;
      if (!IsHex(Peek())) return false;
    }
    return true;
  }

  bool Digits() {
    if (!IsDigit(Peek())) return Bad("in a number");
    while (IsDigit(Peek())) ++pos_;
    return true;
  }

  bool Number() {
    if (Peek() == '-') ++pos_;
    if (Peek() == '0') {
      ++pos_;
    } else if (!Digits()) {
      return false;
    }
    if (Peek() == '.') {
      ++pos_;
      if (!Digits()) return false;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++pos_;
      if (Peek() == '+' || Peek() == '-') ++pos_;
      if (!Digits()) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string open_;    // the brackets around pos_
  bool fresh_ = false;  // right after an opening bracket
  std::string problem_;
};

bool FitsParser(std::string_view number) {
  if (number.find_first_of(".eE") != std::string_view::npos) {
    double value = 0;
    return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
  }
  if (number.front() == '-') {
    int64_t value = 0;
    return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
  }
  uint64_t value = 0;
  return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
}

}  // namespace

size_t SkipJsonBlanks(std::string_view text, size_t pos) {
  while (pos < text.size() && IsBlank(text[pos])) ++pos;
  return pos;
}

std::optional<size_t> SkipJsonValue(std::string_view text, size_t pos) {
  size_t depth = 0;
  do {
    pos = SkipJsonBlanks(text, pos);
    if (pos >= text.size()) return std::nullopt;
    switch (text[pos]) {
      case '"':
        pos = SkipString(text, pos);
        if (pos == std::string_view::npos) return std::nullopt;
        break;
      case '{':
      case '[':
        ++depth;
        ++pos;
        break;
      case '}':
      case ']':
        if (depth == 0) return std::nullopt;
        --depth;
        ++pos;
        break;
      case ',':
      case ':':
        if (depth == 0) return std::nullopt;
        ++pos;
        break;
      default:
        pos = SkipScalar(text, pos);
        break;
    }
  } while (depth > 0);
  return pos;
}

std::optional<std::string> FindJsonError(std::string_view text) { return Checker(text).Run(); }

std::string QuoteHugeNumbers(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    size_t end = pos + 1;
    if (text[pos] == '"') {
      end = std::min(SkipString(text, pos), text.size());
    } else if (text[pos] == '-' || IsDigit(text[pos])) {
      end = NumberEnd(text, pos);
      const std::string_view number = text.substr(pos, end - pos);
      if (!FitsParser(number)) {
        out.append("\"").append(number).append("\"");
        pos = end;
        continue;
      }
    }
    out.append(text, pos, end - pos);
    pos = end;
  }
  return out;
}

}  // namespace berth::api

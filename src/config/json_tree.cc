#include "config/json_tree.h"

#include <fmt/format.h>

#include "api/go/go_text.h"

namespace berth::config {
namespace {

constexpr size_t kMaxDepth = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonTree> Parse() {
    JsonTree tree;
    if (!Value(tree, 0)) return Fail(error_);
    SkipBlanks();
    if (pos_ < text_.size()) {
      Unexpected("after top-level value");
      return Fail(error_);
    }
    return tree;
  }

 private:
  // Every parsing function returns false after setting error_.
  bool Unexpected(std::string_view context) {
    if (pos_ >= text_.size()) {
      error_ = "unexpected end of JSON input";
      return false;
    }
    const char c = text_[pos_];
    std::string quoted;
    if (c == '\'') {
      quoted = "'\\''";
    } else if (c == '"') {
      quoted = "'\"'";
    } else {
      std::string character;
      api::AppendUtf8(character, static_cast<unsigned char>(c));
      character = api::GoQuote(character);
      quoted = "'" + character.substr(1, character.size() - 2) + "'";
    }
    error_ = fmt::format("invalid character {} {}", quoted, context);
    return false;
  }

  void SkipBlanks() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' ||
                                   text_[pos_] == '\r' || text_[pos_] == '\n')) {
      ++pos_;
    }
  }

  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

  bool Value(JsonTree& out, size_t depth) {
    SkipBlanks();
    const size_t begin = pos_;
    if (!ValueAt(out, depth)) return false;
    out.source = text_.substr(begin, pos_ - begin);
    return true;
  }

  bool ValueAt(JsonTree& out, size_t depth) {
    if (pos_ >= text_.size()) return Unexpected("");
    switch (Peek()) {
      case '{':
        return Object(out, depth + 1);
      case '[':
        return Array(out, depth + 1);
      case '"':
        out.kind = JsonTree::Kind::kString;
        return String(out.text);
      case 't':
        out.kind = JsonTree::Kind::kBool;
        out.boolean = true;
        return Word("true");
      case 'f':
        out.kind = JsonTree::Kind::kBool;
        return Word("false");
      case 'n':
        return Word("null");
      default:
        break;
    }
    if (Peek() != '-' && !IsDigit(Peek())) return Unexpected("looking for beginning of value");
    out.kind = JsonTree::Kind::kNumber;
    return Number(out.text);
  }

  bool Word(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i, ++pos_) {
      if (pos_ >= text_.size() || text_[pos_] != word[i]) {
        return Unexpected(fmt::format("in literal {} (expecting '{}')", word, word[i]));
      }
    }
    return true;
  }

  bool Digits(std::string_view context) {
    if (!IsDigit(Peek())) return Unexpected(context);
    while (IsDigit(Peek())) ++pos_;
    return true;
  }

  bool Number(std::string& out) {
    const size_t begin = pos_;
    if (Peek() == '-') ++pos_;
    if (Peek() == '0') {
      ++pos_;
    } else if (!Digits("in numeric literal")) {
      return false;
    }
    if (Peek() == '.') {
      ++pos_;
      if (!Digits("after decimal point in numeric literal")) return false;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++pos_;
      if (Peek() == '+' || Peek() == '-') ++pos_;
      if (!Digits("in exponent of numeric literal")) return false;
    }
    out = text_.substr(begin, pos_ - begin);
    return true;
  }

  bool HexDigits(uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++pos_) {
      const int digit = pos_ < text_.size() ? HexValue(text_[pos_]) : -1;
      if (digit < 0) return Unexpected("in \\u hexadecimal character escape");
      out = out << 4 | static_cast<uint32_t>(digit);
    }
    return true;
  }

  // After the backslash and the u. A surrogate without its partner becomes U+FFFD.
  bool UnicodeEscape(std::string& out) {
    uint32_t c;
    if (!HexDigits(c)) return false;
    if (c >= 0xD800 && c < 0xDC00 && text_.substr(pos_, 2) == "\\u") {
      const size_t after_first = pos_;
      pos_ += 2;
      uint32_t low;
      if (!HexDigits(low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        api::AppendUtf8(out, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
        return true;
      }
      pos_ = after_first;
    }
    api::AppendUtf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    return true;
  }

  bool Escape(std::string& out) {
    ++pos_;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (pos_ < text_.size() && text_[pos_] == 'u') {
      ++pos_;
      return UnicodeEscape(out);
    }
    const size_t name = pos_ < text_.size() ? kNames.find(text_[pos_]) : std::string_view::npos;
    if (name == std::string_view::npos) return Unexpected("in string escape code");
    out += kMeanings[name];
    ++pos_;
    return true;
  }

  bool String(std::string& out) {
    ++pos_;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] == '\\') {
        if (!Escape(out)) return false;
        continue;
      }
      if (static_cast<unsigned char>(text_[pos_]) < 0x20) return Unexpected("in string literal");
      bool valid;
      api::AppendUtf8(out, api::DecodeUtf8(text_, &pos_, &valid));
    }
    if (pos_ >= text_.size()) return Unexpected("");
    ++pos_;
    return true;
  }

  bool Enter(size_t depth) {
    if (depth > kMaxDepth) {
      error_ = "exceeded max depth";
      return false;
    }
    ++pos_;
    SkipBlanks();
    return true;
  }

  bool Array(JsonTree& out, size_t depth) {
    out.kind = JsonTree::Kind::kArray;
    if (!Enter(depth)) return false;
    if (Peek() == ']') {
      ++pos_;
      return true;
    }
    while (true) {
      if (!Value(out.items.emplace_back(), depth)) return false;
      SkipBlanks();
      if (Peek() == ']') break;
      if (Peek() != ',') return Unexpected("after array element");
      ++pos_;
    }
    ++pos_;
    return true;
  }

  bool Object(JsonTree& out, size_t depth) {
    out.kind = JsonTree::Kind::kObject;
    if (!Enter(depth)) return false;
    if (Peek() == '}') {
      ++pos_;
      return true;
    }
    while (true) {
      SkipBlanks();
      if (Peek() != '"') return Unexpected("looking for beginning of object key string");
      auto& [key, value] = out.members.emplace_back();
      if (!String(key)) return false;
      SkipBlanks();
      if (Peek() != ':') return Unexpected("after object key");
      ++pos_;
      if (!Value(value, depth)) return false;
      SkipBlanks();
      if (Peek() == '}') break;
      if (Peek() != ',') return Unexpected("after object key:value pair");
      ++pos_;
    }
    ++pos_;
    return true;
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string error_;
};

}  // namespace

const JsonTree* JsonTree::Find(std::string_view name) const {
  for (auto it = members.rbegin(); it != members.rend(); ++it) {
    if (it->name == name) return it->value.kind == Kind::kNull ? nullptr : &it->value;
  }
  return nullptr;
}

std::string_view KindName(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::kNull:
      return "null";
    case JsonTree::Kind::kBool:
      return "bool";
    case JsonTree::Kind::kNumber:
      return "number";
    case JsonTree::Kind::kString:
      return "string";
    case JsonTree::Kind::kArray:
      return "array";
    case JsonTree::Kind::kObject:
      return "object";
  }
  return "";
}

Result<JsonTree> ParseJson(std::string_view text) { return Parser(text).Parse(); }

void AppendJson(std::string& out, const JsonTree& tree) {
  switch (tree.kind) {
    case JsonTree::Kind::kNull:
      out += "null";
      return;
    case JsonTree::Kind::kBool:
      out += tree.boolean ? "true" : "false";
      return;
    case JsonTree::Kind::kNumber:
      out += tree.text;
      return;
    case JsonTree::Kind::kString:
      api::AppendJsonString(out, tree.text);
      return;
    case JsonTree::Kind::kArray:
    case JsonTree::Kind::kObject:
      break;
  }
  const bool object = tree.kind == JsonTree::Kind::kObject;
  out += object ? '{' : '[';
  for (size_t i = 0; i < (object ? tree.members.size() : tree.items.size()); ++i) {
    if (i > 0) out += ',';
    if (object) {
      api::AppendJsonString(out, tree.members[i].name);
      out += ':';
    }
    AppendJson(out, object ? tree.members[i].value : tree.items[i]);
  }
  out += object ? '}' : ']';
}

}  // namespace berth::config

#include "api/codec/yaml_scalar.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "api/go/go_text.h"

namespace berth::api::yaml {
namespace {

constexpr std::string_view kLongTagPrefix = "tag:yaml.org,2002:";
constexpr std::string_view kStrTag = "tag:yaml.org,2002:str";
constexpr std::string_view kBoolTag = "tag:yaml.org,2002:bool";
constexpr std::string_view kIntTag = "tag:yaml.org,2002:int";
constexpr std::string_view kFloatTag = "tag:yaml.org,2002:float";
constexpr std::string_view kNullTag = "tag:yaml.org,2002:null";
constexpr std::string_view kTimestampTag = "tag:yaml.org,2002:timestamp";
constexpr std::string_view kBinaryTag = "tag:yaml.org,2002:binary";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";

std::string ShortTag(std::string_view tag) {
  if (tag.substr(0, kLongTagPrefix.size()) != kLongTagPrefix) return std::string(tag);
  return "!!" + std::string(tag.substr(kLongTagPrefix.size()));
}

// What the text of a scalar means before its tag is considered.
struct Resolved {
  std::string_view tag = kStrTag;
  Scalar scalar;
};

Resolved String(std::string_view text) {
  Resolved out;
  out.scalar.kind = Kind::kString;
  out.scalar.text = text;
  return out;
}

Resolved Bool(bool value) {
  Resolved out{kBoolTag, {}};
  out.scalar.kind = Kind::kBool;
  out.scalar.boolean = value;
  return out;
}

Resolved Int(int64_t value) {
  Resolved out{kIntTag, {}};
  out.scalar.kind = Kind::kInt;
  out.scalar.integer = value;
  return out;
}

Resolved Float(double value) {
  Resolved out{kFloatTag, {}};
  out.scalar.kind = Kind::kFloat;
  out.scalar.real = value;
  return out;
}

struct Word {
  std::string_view text;
  enum { kTrue, kFalse, kNull, kNan, kInf, kMinusInf } meaning;
};

constexpr Word kWords[] = {
    {"y", Word::kTrue},         {"Y", Word::kTrue},         {"yes", Word::kTrue},
    {"Yes", Word::kTrue},       {"YES", Word::kTrue},       {"true", Word::kTrue},
    {"True", Word::kTrue},      {"TRUE", Word::kTrue},      {"on", Word::kTrue},
    {"On", Word::kTrue},        {"ON", Word::kTrue},        {"n", Word::kFalse},
    {"N", Word::kFalse},        {"no", Word::kFalse},       {"No", Word::kFalse},
    {"NO", Word::kFalse},       {"false", Word::kFalse},    {"False", Word::kFalse},
    {"FALSE", Word::kFalse},    {"off", Word::kFalse},      {"Off", Word::kFalse},
    {"OFF", Word::kFalse},      {"~", Word::kNull},         {"null", Word::kNull},
    {"Null", Word::kNull},      {"NULL", Word::kNull},      {".nan", Word::kNan},
    {".NaN", Word::kNan},       {".NAN", Word::kNan},       {".inf", Word::kInf},
    {".Inf", Word::kInf},       {".INF", Word::kInf},       {"+.inf", Word::kInf},
    {"+.Inf", Word::kInf},      {"+.INF", Word::kInf},      {"-.inf", Word::kMinusInf},
    {"-.Inf", Word::kMinusInf}, {"-.INF", Word::kMinusInf},
};
constexpr size_t kLongestWord = 5;

std::optional<Resolved> LookUpWord(std::string_view text) {
  if (text.size() > kLongestWord) return std::nullopt;
  for (const Word& word : kWords) {
    if (word.text != text) continue;
    switch (word.meaning) {
      case Word::kTrue:
        return Bool(true);
      case Word::kFalse:
        return Bool(false);
      case Word::kNull:
        return Resolved{kNullTag, {}};
      case Word::kNan:
        return Float(std::numeric_limits<double>::quiet_NaN());
      case Word::kInf:
        return Float(std::numeric_limits<double>::infinity());
      case Word::kMinusInf:
        return Float(-std::numeric_limits<double>::infinity());
    }
  }
  return std::nullopt;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// strconv.ParseUint with the given base; 0 stands for Go's prefixes 0x, 0b, 0o and 0.
std::optional<uint64_t> ParseMagnitude(std::string_view text, int base) {
  if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0') {
      const char c = Lower(text[1]);
      base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
      text.remove_prefix(base != 8 || c == 'o' ? 2 : 1);
    }
  }
  uint64_t value = 0;
  if (text.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// strconv.ParseInt, then strconv.ParseUint.
std::optional<Resolved> ParseInteger(std::string_view text, int base) {
  const bool negative = !text.empty() && text[0] == '-';
  const bool is_signed = negative || (!text.empty() && text[0] == '+');
  const auto magnitude = ParseMagnitude(text.substr(is_signed ? 1 : 0), base);
  if (!magnitude) return std::nullopt;
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (negative) {
    if (*magnitude > kLimit) return std::nullopt;
    return Int(static_cast<int64_t>(0 - *magnitude));
  }
  if (*magnitude < kLimit) return Int(static_cast<int64_t>(*magnitude));
  if (is_signed) return std::nullopt;
  Resolved out{kIntTag, {}};
  out.scalar.kind = Kind::kUint;
  out.scalar.unsigned_integer = *magnitude;
  return out;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t start = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && Lower(text[i]) == 'e') {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// Whether the decimal number is at least 1 in magnitude: tells overflow from underflow.
bool IsLarge(std::string_view text) {
  const size_t e = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    const bool negative = digits.front() == '-';
    if (negative || digits.front() == '+') digits.remove_prefix(1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc()) {
      return !negative;
    }
    if (negative) exponent = -exponent;
  }
  return exponent + static_cast<int64_t>(point) - static_cast<int64_t>(first) >= 0;
}

// strconv.ParseFloat of a text of LooksLikeFloat's form.
std::optional<double> ParseFloat(std::string_view text) {
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    if (IsLarge(text)) return std::nullopt;
    return text[0] == '-' ? -0.0 : 0.0;
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_') out += c;
  }
  return out;
}

std::optional<Resolved> ParseNumber(std::string_view text) {
  std::string storage;
  if (text.find('_') != std::string_view::npos) {
    storage = WithoutUnderscores(text);
    text = storage;
  }
  if (text.empty()) return std::nullopt;
  if (auto integer = ParseInteger(text, 0)) return integer;
  if (LooksLikeFloat(text)) {
    if (const auto real = ParseFloat(text)) return Float(*real);
  }
  // A sign may stand between 0b and the digits.
  if (text.substr(0, 2) == "0b") return ParseInteger(text.substr(2), 2);
  return std::nullopt;
}

// Go's float literals that start with a point: an underscore may stand between two digits.
std::optional<Resolved> ParsePointFloat(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (!IsDigit(text[i - 1]) || i + 1 == text.size() || !IsDigit(text[i + 1])) return std::nullopt;
  }
  const std::string plain = WithoutUnderscores(text);
  if (!LooksLikeFloat(plain)) return std::nullopt;
  const auto real = ParseFloat(plain);
  return real ? std::optional(Float(*real)) : std::nullopt;
}

// Reads `count` numbers of at most two digits separated by `separator`.
bool TakeShortNumbers(std::string_view& text, int count, char separator,
                      const std::array<int, 3>& most) {
  for (int n = 0; n < count; ++n) {
    if (n > 0) {
      if (text.empty() || text[0] != separator) return false;
      text.remove_prefix(1);
    }
    size_t digits = 0;
    int value = 0;
    while (digits < text.size() && digits < 2 && IsDigit(text[digits])) {
      value = value * 10 + (text[digits++] - '0');
    }
    if (digits == 0 || value > most[static_cast<size_t>(n)]) return false;
    text.remove_prefix(digits);
  }
  return true;
}

bool IsDay(std::string_view date, int year) {
  const size_t dash = date.find('-');
  int month = 0;
  int day = 0;
  std::from_chars(date.data(), date.data() + dash, month);
  std::from_chars(date.data() + dash + 1, date.data() + date.size(), day);
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || day < 1) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// The meaning of an unquoted text, looked at as go-yaml does: the first character chooses what to
// try.
Resolved ResolveText(std::string_view tag, std::string_view text) {
  if (text.empty()) return Resolved{kNullTag, {}};
  const char first = text[0];
  const bool number = IsDigit(first) || first == '+' || first == '-';
  constexpr std::string_view kWordStarts = "yYnNtTfFoO~";
  if (!number && first != '.' && kWordStarts.find(first) == std::string_view::npos) {
    return String(text);
  }
  if (const auto word = LookUpWord(text)) return *word;
  if (first == '.') return ParsePointFloat(text).value_or(String(text));
  if (!number) return String(text);
  if (tag == kTimestampTag && IsTimestamp(text)) {
    Resolved out = String(text);
    out.tag = kTimestampTag;
    return out;
  }
  return ParseNumber(text).value_or(String(text));
}

bool IsResolvable(std::string_view tag) {
  return tag.empty() || tag == kStrTag || tag == kBoolTag || tag == kIntTag || tag == kFloatTag ||
         tag == kNullTag || tag == kTimestampTag;
}

// base64.StdEncoding, which skips line breaks and wants the padding.
bool DecodeBase64(std::string_view text, std::string& out) {
  uint32_t bits = 0;
  int count = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    uint32_t value;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<uint32_t>(c - 'a' + 26);
    } else if (IsDigit(c)) {
      value = static_cast<uint32_t>(c - '0' + 52);
    } else if (c == '+' || c == '/') {
      value = c == '+' ? 62 : 63;
    } else if (c == '=' && count % 4 >= 2) {
      value = 0;
      ++padding;
    } else {
      return false;
    }
    if (padding > 0 && c != '=') return false;
    bits = bits << 6 | value;
    if (++count % 4 == 0) {
      out += static_cast<char>(bits >> 16 & 0xFF);
      if (padding < 2) out += static_cast<char>(bits >> 8 & 0xFF);
      if (padding < 1) out += static_cast<char>(bits & 0xFF);
      if (padding > 0) count += 4000;  // nothing may follow
    }
  }
  return count % 4 == 0 && padding <= 2;
}

}  // namespace

bool IsTimestamp(std::string_view text) {
  if (text.size() < 5 || text[4] != '-') return false;
  int year = 0;
  for (size_t i = 0; i < 4; ++i) {
    if (!IsDigit(text[i])) return false;
    year = year * 10 + (text[i] - '0');
  }
  text.remove_prefix(5);
  const std::string_view date = text;
  if (!TakeShortNumbers(text, 2, '-', {12, 31, 0})) return false;
  if (!IsDay(date.substr(0, date.size() - text.size()), year)) return false;
  if (text.empty()) return true;
  const char separator = text[0];
  if (separator != 'T' && separator != 't' && separator != ' ') return false;
  text.remove_prefix(1);
  if (!TakeShortNumbers(text, 3, ':', {23, 59, 59})) return false;
  if (!text.empty() && (text[0] == '.' || text[0] == ',')) {
    size_t digits = 1;
    while (digits < text.size() && IsDigit(text[digits])) ++digits;
    if (digits == 1) return false;
    text.remove_prefix(digits);
  }
  if (separator == ' ') return text.empty();
  if (text == "Z") return true;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-')) return false;
  text.remove_prefix(1);
  return text[2] == ':' && TakeShortNumbers(text, 2, ':', {24, 60, 0}) && text.empty();
}

Result<Scalar> ResolveScalar(std::string_view tag, std::string_view value, bool plain,
                             std::string& storage) {
  if (tag == kBinaryTag) {
    storage.clear();
    if (!DecodeBase64(value, storage)) return Fail("!!binary value contains invalid base64 data");
    return String(storage).scalar;
  }
  if ((tag.empty() && !plain) || !IsResolvable(tag) || tag == kStrTag) return String(value).scalar;
  const Resolved resolved = ResolveText(tag, value);
  if (tag.empty() || tag == resolved.tag) return resolved.scalar;
  if (tag == kFloatTag && resolved.scalar.kind == Kind::kInt) {
    return Float(static_cast<double>(resolved.scalar.integer)).scalar;
  }
  return Fail(
      fmt::format("cannot decode {} `{}` as a {}", ShortTag(resolved.tag), value, ShortTag(tag)));
}

bool IsMergeKey(std::string_view tag, std::string_view value, bool plain) {
  return value == "<<" && (plain || tag == kMergeTag);
}

void AppendJson(std::string& out, const Scalar& scalar) {
  switch (scalar.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += scalar.boolean ? "true" : "false";
      return;
    case Kind::kInt:
      fmt::format_to(std::back_inserter(out), "{}", scalar.integer);
      return;
    case Kind::kUint:
      fmt::format_to(std::back_inserter(out), "{}", scalar.unsigned_integer);
      return;
    case Kind::kFloat:
      AppendJsonNumber(out, scalar.real);
      return;
    case Kind::kString:
      AppendJsonString(out, scalar.text);
      return;
  }
}

std::string GoSyntax(const Scalar& scalar) {
  switch (scalar.kind) {
    case Kind::kNull:
      return "interface {}(nil)";
    case Kind::kBool:
      return scalar.boolean ? "true" : "false";
    case Kind::kInt:
      return fmt::format("{}", scalar.integer);
    case Kind::kUint:
      return fmt::format("{:#x}", scalar.unsigned_integer);
    case Kind::kFloat:
      return FormatGoFloat(scalar.real);
    case Kind::kString:
      return GoQuote(scalar.text);
  }
  return "";
}

}  // namespace berth::api::yaml

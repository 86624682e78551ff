// Values of flags: see flags_values.h.
#include "cli/scheduler/flags_values.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "api/go/go_text.h"
#include "api/rules/quantity.h"

namespace berth::cli::scheduler {

namespace {

tl::unexpected<Error> BadNumber(std::string_view function, std::string_view text,
                                std::string_view why) {
  return Fail(fmt::format("strconv.{}: parsing {}: {}", function, api::GoQuote(text), why));
}
constexpr std::string_view kBadSyntax = "invalid syntax";
constexpr std::string_view kOutOfRange = "value out of range";

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Underscores may stand between digits, and between a prefix and the first digit.
bool UnderscoresFit(std::string_view digits, bool prefixed) {
  bool digit_before = prefixed;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') {
      digit_before = true;
    } else if (!digit_before || i + 1 == digits.size() || digits[i + 1] == '_') {
      return false;
    } else {
      digit_before = false;
    }
  }
  return true;
}

enum class Magnitude : uint8_t { kFine, kSyntax, kRange };

// The unsigned number in `text`; base 0 takes it from the prefix.
Magnitude ReadMagnitude(std::string_view text, int base, uint64_t* out) {
  bool prefixed = false;
  const bool guess = base == 0;
  if (guess) {
    base = 10;
    if (text.size() > 1 && text[0] == '0') {
      const char kind = static_cast<char>(text[1] | 0x20);
      base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
      text.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
      prefixed = true;
    }
  }
  if (text.empty() || (guess && !UnderscoresFit(text, prefixed))) return Magnitude::kSyntax;
  uint64_t value = 0;
  bool overflow = false;
  for (const char c : text) {
    if (c == '_' && guess) continue;
    const int digit = DigitOf(c);
    if (digit >= base) return Magnitude::kSyntax;
    overflow = overflow || __builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
               __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value);
  }
  *out = value;
  return overflow ? Magnitude::kRange : Magnitude::kFine;
}

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

Result<bool> ParseBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return false;
  }
  return BadNumber("ParseBool", text, kBadSyntax);
}

Result<int64_t> ParseInt(std::string_view text, int bits) {
  const bool negative = !text.empty() && text[0] == '-';
  const bool has_sign = negative || (!text.empty() && text[0] == '+');
  uint64_t magnitude = 0;
  const Magnitude read = ReadMagnitude(text.substr(has_sign ? 1 : 0), 0, &magnitude);
  if (read == Magnitude::kSyntax) return BadNumber("ParseInt", text, kBadSyntax);
  const uint64_t limit = (uint64_t{1} << (bits - 1)) - (negative ? 0 : 1);
  if (read == Magnitude::kRange || magnitude > limit)
    return BadNumber("ParseInt", text, kOutOfRange);
  return static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
}

Result<uint64_t> ParseUint(std::string_view text, int bits) {
  uint64_t value = 0;
  const Magnitude read = ReadMagnitude(text, 10, &value);
  if (read == Magnitude::kSyntax) return BadNumber("ParseUint", text, kBadSyntax);
  const uint64_t limit =
      bits == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << bits) - 1;
  if (read == Magnitude::kRange || value > limit) return BadNumber("ParseUint", text, kOutOfRange);
  return value;
}

Result<float> ParseFloat32(std::string_view text) {
  const bool plus = !text.empty() && text[0] == '+' && (text.size() < 2 || text[1] != '-');
  std::string number(text.substr(plus ? 1 : 0));
  for (size_t at = 0; (at = number.find('_', at)) != std::string::npos;) {
    const bool between = at > 0 && at + 1 < number.size() && DigitOf(number[at - 1]) < 10 &&
                         DigitOf(number[at + 1]) < 10;
    if (!between) return BadNumber("ParseFloat", text, kBadSyntax);
    number.erase(at, 1);
  }
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec == std::errc::invalid_argument || read.ptr != number.data() + number.size()) {
    return BadNumber("ParseFloat", text, kBadSyntax);
  }
  if (read.ec == std::errc::result_out_of_range) value = std::strtod(number.c_str(), nullptr);
  const bool infinite = read.ec == std::errc() && std::isinf(value);
  const float rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !infinite) return BadNumber("ParseFloat", text, kOutOfRange);
  return rounded;
}

Result<std::string> ParseIp(std::string_view text) {
  const std::string trimmed(TrimSpace(text));
  in6_addr address = {};
  char printed[INET6_ADDRSTRLEN] = {};
  if (inet_pton(AF_INET, trimmed.c_str(), &address) == 1) {
    return std::string(inet_ntop(AF_INET, &address, printed, sizeof printed));
  }
  if (inet_pton(AF_INET6, trimmed.c_str(), &address) == 1) {
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
      return std::string(inet_ntop(AF_INET, &address.s6_addr[12], printed, sizeof printed));
    }
    return std::string(inet_ntop(AF_INET6, &address, printed, sizeof printed));
  }
  return Fail("failed to parse IP: " + api::GoQuote(text));
}

Result<std::string> ParseQuantity(std::string_view text) {
  auto quantity = api::Quantity::Parse(text);
  if (!quantity) return Fail(std::move(quantity.error()));
  return quantity->Canonical();
}

Result<SniCertKey> ParseSniCertKey(std::string_view text) {
  SniCertKey key;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view names = TrimSpace(text.substr(colon + 1));
    if (names.empty()) return Fail("empty names list is not allowed");
    for (const std::string_view name : Split(names, ',')) key.names.emplace_back(TrimSpace(name));
  }
  const std::vector<std::string_view> files = Split(TrimSpace(text.substr(0, colon)), ',');
  if (files.size() != 2) return Fail("expected comma separated certificate and key file paths");
  key.cert_file = TrimSpace(files[0]);
  key.key_file = TrimSpace(files[1]);
  return key;
}

std::string FormatSniCertKeys(const std::vector<SniCertKey>& keys) {
  std::string text = "[";
  for (const SniCertKey& key : keys) {
    if (text.size() > 1) text += ';';
    text += key.cert_file + "," + key.key_file;
    for (size_t i = 0; i < key.names.size(); ++i) text += (i == 0 ? ":" : ",") + key.names[i];
  }
  return text + "]";
}

namespace {

// Reads one record, field by field.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> Read() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n")) NewLine();
    start_line_ = line_;
    if (at_ == text_.size()) return Fail("EOF");
    std::vector<std::string> fields;
    do {
      auto field = at_ < text_.size() && text_[at_] == '"' ? Quoted() : Plain();
      if (!field) return Fail(std::move(field.error()));
      fields.push_back(std::move(*field));
    } while (Take(','));
    return fields;
  }

 private:
  bool AtLineEnd() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_) == "\r" ||
           text_.substr(at_, 2) == "\r\n";
  }
  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void NewLine() {
    at_ = text_.find('\n', at_) + 1;
    line_begin_ = at_;
    ++line_;
  }
  tl::unexpected<Error> Broken(size_t at, std::string_view what) const {
    const std::string where =
        line_ == start_line_ ? "" : fmt::format("record on line {}; ", start_line_);
    return Fail(fmt::format("{}parse error on line {}, column {}: {}", where, line_,
                            at - line_begin_ + 1, what));
  }

  Result<std::string> Plain() {
    const size_t begin = at_;
    while (!AtLineEnd() && text_[at_] != ',') {
      if (text_[at_] == '"') return Broken(at_, "bare \" in non-quoted-field");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> Quoted() {
    constexpr std::string_view kWrong = "extraneous or missing \" in quoted-field";
    std::string field;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        field += '\n';
        NewLine();
      } else if (c != '"') {
        field += c;
        ++at_;
      } else if (text_.substr(at_, 2) == "\"\"") {
        field += '"';
        at_ += 2;
      } else {
        ++at_;
        if (AtLineEnd() || text_[at_] == ',') return field;
        return Broken(at_ - 1, kWrong);
      }
    }
    return Broken(at_, kWrong);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
  int start_line_ = 1;
};

}  // namespace

Result<std::vector<std::string>> ReadCsv(std::string_view text) {
  if (text.empty()) return std::vector<std::string>();
  return CsvReader(text).Read();
}

std::string WriteCsv(const std::vector<std::string>& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    if (i > 0) text += ',';
    const bool quoted =
        field == "\\." || field.find_first_of(",\"\r\n") != std::string::npos ||
        (!field.empty() && std::string_view(" \t\v\f").find(field[0]) != std::string::npos);
    if (!quoted) {
      text += field;
      continue;
    }
    text += '"';
    for (const char c : field) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  return text;
}

Result<std::map<std::string, std::string>> ParseStringToString(std::string_view text) {
  const auto equals = std::count(text.begin(), text.end(), '=');
  std::vector<std::string> pairs;
  if (equals == 0) return Fail(std::string(text) + " must be formatted as key=value");
  if (equals == 1) {
    const size_t first = text.find_first_not_of('"');
    pairs.emplace_back(text.substr(first, text.find_last_not_of('"') - first + 1));
  } else {
    auto read = ReadCsv(text);
    if (!read) return Fail(std::move(read.error()));
    pairs = std::move(*read);
  }
  std::map<std::string, std::string> values;
  for (const std::string& pair : pairs) {
    const size_t equal = pair.find('=');
    if (equal == std::string::npos) return Fail(pair + " must be formatted as key=value");
    values[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
  return values;
}

void AddColonSeparated(std::string_view text,
                       std::map<std::string, std::vector<std::string>>* out) {
  for (const std::string_view pair : Split(text, ',')) {
    if (pair.empty()) continue;
    const size_t colon = pair.find(':');
    const bool has_key = colon != std::string_view::npos;
    const std::string key(has_key ? TrimSpace(pair.substr(0, colon)) : std::string_view());
    (*out)[key].emplace_back(TrimSpace(has_key ? pair.substr(colon + 1) : pair));
  }
}

Result<std::string> ParseVmoduleFlag(std::string_view text) {
  std::string kept;
  for (const std::string_view item : Split(text, ',')) {
    if (item.empty()) continue;
    const std::vector<std::string_view> parts = Split(item, '=');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return Fail(api::GoQuote(item) + " does not have the pattern=N format");
    }
    const auto level = ParseUint(parts[1], 31);
    if (!level) {
      return Fail("parsing verbosity in " + api::GoQuote(item) + ": " + level.error().Message());
    }
    if (!kept.empty()) kept += ',';
    kept += fmt::format("{}={}", parts[0], *level);
  }
  return kept;
}

std::string ParsedVersion::Format() const {
  std::string text;
  for (const uint64_t number : numbers) {
    if (!text.empty()) text += '.';
    text += std::to_string(number);
  }
  return text;
}

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "-pre.release+meta.data", parts of letters, digits and dashes.
bool ValidExtra(std::string_view extra, std::string_view* pre_release) {
  const auto identifiers = [&](char mark, std::string_view* out) {
    if (extra.empty() || extra[0] != mark) return true;
    size_t end = 1;
    while (end < extra.size() &&
           (DigitOf(extra[end]) < 36 || extra[end] == '-' || extra[end] == '.')) {
      ++end;
    }
    *out = extra.substr(1, end - 1);
    extra.remove_prefix(end);
    const auto parts = Split(*out, '.');
    return std::none_of(parts.begin(), parts.end(), [](std::string_view p) { return p.empty(); });
  };
  std::string_view metadata;
  return identifiers('-', pre_release) && identifiers('+', &metadata) && TrimSpace(extra).empty();
}

}  // namespace

Result<ParsedVersion> ParseVersion(std::string_view text, bool semantic) {
  std::string_view rest = text;
  while (!rest.empty() && std::string_view(" \t\n\f\r").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest[0] == 'v') rest.remove_prefix(1);
  size_t end = 0;
  while (end < rest.size() &&
         (IsDigit(rest[end]) ||
          (rest[end] == '.' && end > 0 && end + 1 < rest.size() && IsDigit(rest[end + 1])))) {
    ++end;
  }
  if (end == 0 || rest.find('\n', end) != std::string_view::npos) {
    return Fail("could not parse " + api::GoQuote(text) + " as version");
  }
  const std::vector<std::string_view> parts = Split(rest.substr(0, end), '.');
  if (semantic ? parts.size() != 3 : parts.size() < 2) {
    return Fail("illegal version string " + api::GoQuote(text));
  }
  const auto zero_prefixed = [&](std::string_view part) {
    return Fail(fmt::format("illegal zero-prefixed version component {} in {}", api::GoQuote(part),
                            api::GoQuote(text)));
  };
  const auto starts_with_zero = [](std::string_view part) {
    return part.size() > 1 && part[0] == '0';
  };
  ParsedVersion version;
  for (size_t i = 0; i < parts.size(); ++i) {
    if ((i == 0 || semantic) && starts_with_zero(parts[i])) return zero_prefixed(parts[i]);
    const auto number = ParseUint(parts[i], 64);
    if (!number) {
      return Fail(fmt::format("illegal non-numeric version component {} in {}: {}",
                              api::GoQuote(parts[i]), api::GoQuote(text),
                              number.error().Message()));
    }
    version.numbers.push_back(*number);
  }
  const std::string_view extra = rest.substr(end);
  if (!semantic || extra.empty()) return version;
  std::string_view pre_release;
  if (!ValidExtra(extra, &pre_release)) {
    return Fail(fmt::format("could not parse pre-release/metadata ({}) in version {}", extra,
                            api::GoQuote(text)));
  }
  for (const std::string_view part : Split(pre_release, '.')) {
    if (ParseUint(part, 64) && starts_with_zero(part)) return zero_prefixed(part);
  }
  return version;
}

}  // namespace berth::cli::scheduler

#include "api/go/go_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace berth::api {
namespace {

// A finite double as sign, decimal digits d1d2d3... and exponent: d1.d2d3... x 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal ShortestDecimal(double value, int bits) {
  std::array<char, 64> buffer;
  const auto end = bits == 32
                       ? std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                       static_cast<float>(value), std::chars_format::scientific)
                       : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  Decimal out;
  if (text.front() == '-') {
    out.negative = true;
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  while (out.digits.size() > 1 && out.digits.back() == '0') out.digits.pop_back();
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
  return out;
}

void AppendScientific(std::string& out, const Decimal& d, size_t min_exponent_digits) {
  out += d.digits[0];
  if (d.digits.size() > 1) {
    out += '.';
    out.append(d.digits, 1);
  }
  out += 'e';
  out += d.exponent < 0 ? '-' : '+';
  const std::string exponent = std::to_string(std::abs(d.exponent));
  if (exponent.size() < min_exponent_digits) out.append(min_exponent_digits - exponent.size(), '0');
  out += exponent;
}

void AppendPositional(std::string& out, const Decimal& d) {
  const int count = static_cast<int>(d.digits.size());
  if (d.exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-d.exponent - 1), '0');
    out += d.digits;
  } else if (d.exponent >= count - 1) {
    out += d.digits;
    out.append(static_cast<size_t>(d.exponent - count + 1), '0');
  } else {
    out.append(d.digits, 0, static_cast<size_t>(d.exponent) + 1);
    out += '.';
    out.append(d.digits, static_cast<size_t>(d.exponent) + 1);
  }
}

constexpr int kPositionalExponents = 6;  // of strconv's 'g' with the shortest precision
constexpr char kHex[] = "0123456789abcdef";

void AppendEscape(std::string& out, char introducer, uint32_t code_point, int digits) {
  out += '\\';
  out += introducer;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    out += kHex[(code_point >> shift) & 15];
}

// Whether strconv.Quote writes the code point as it is. Unassigned code points are not told apart.
bool IsPrintable(uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) return false;
  if (c == 0x1680 || (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F)) return false;
  if ((c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF) return false;
  if ((c >= 0xD800 && c <= 0xF8FF) || (c >= 0xFFF0 && c <= 0xFFFB) || c == 0xFFFE || c == 0xFFFF) {
    return false;
  }
  return c < 0xE0000;
}

bool IsPlainJson(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

}  // namespace

std::string FormatGoFloat(double value, int bits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  const Decimal d = ShortestDecimal(value, bits);
  std::string out = d.negative ? "-" : "";
  if (d.exponent < -4 || d.exponent >= kPositionalExponents) {
    AppendScientific(out, d, 2);
  } else {
    AppendPositional(out, d);
  }
  return out;
}

void AppendJsonNumber(std::string& out, double value, int bits) {
  if (value == 0) {
    out += std::signbit(value) ? "-0" : "0";
    return;
  }
  const Decimal d = ShortestDecimal(value, bits);
  if (d.negative) out += '-';
  if (d.exponent < -6 || d.exponent >= 21) {
    AppendScientific(out, d, d.exponent < 0 ? 1 : 2);
  } else {
    AppendPositional(out, d);
  }
}

uint32_t DecodeUtf8(std::string_view text, size_t* pos, bool* valid) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t start = *pos;
  const uint32_t first = byte(start);
  *valid = true;
  *pos = start + 1;
  if (first < 0x80) return first;
  const size_t extra = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  *valid = false;
  if (first < 0xC2 || first > 0xF4 || start + extra >= text.size()) return 0xFFFD;
  uint32_t code_point = first & (0x3F >> extra);
  for (size_t i = 1; i <= extra; ++i) {
    if ((byte(start + i) & 0xC0) != 0x80) return 0xFFFD;
    code_point = code_point << 6 | (byte(start + i) & 0x3F);
  }
  if (code_point < kSmallest[extra] || code_point > 0x10FFFF ||
      (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    return 0xFFFD;
  }
  *valid = true;
  *pos = start + 1 + extra;
  return code_point;
}

void AppendUtf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

void AppendJsonString(std::string& out, std::string_view value) {
  out += '"';
  for (size_t i = 0; i < value.size();) {
    size_t run = i;
    while (run < value.size() && IsPlainJson(static_cast<unsigned char>(value[run]))) ++run;
    out.append(value.substr(i, run - i));
    i = run;
    if (i == value.size()) break;
    const size_t start = i;
    bool valid;
    const uint32_t c = DecodeUtf8(value, &i, &valid);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (c < 0x80 || c == 0x2028 || c == 0x2029 || !valid) {
          AppendEscape(out, 'u', c, 4);
        } else {
          out.append(value.substr(start, i - start));
        }
    }
  }
  out += '"';
}

std::string GoQuote(std::string_view value) {
  std::string out = "\"";
  for (size_t i = 0; i < value.size();) {
    const size_t start = i;
    bool valid;
    const uint32_t c = DecodeUtf8(value, &i, &valid);
    switch (c) {
      case '"':
        out += "\\\"";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\a':
        out += "\\a";
        continue;
      case '\b':
        out += "\\b";
        continue;
      case '\f':
        out += "\\f";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\r':
        out += "\\r";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\v':
        out += "\\v";
        continue;
      default:
        break;
    }
    if (!valid) {
      AppendEscape(out, 'x', static_cast<unsigned char>(value[start]), 2);
    } else if (IsPrintable(c)) {
      out.append(value.substr(start, i - start));
    } else if (c < 0x80) {
      AppendEscape(out, 'x', c, 2);
    } else if (c < 0x10000) {
      AppendEscape(out, 'u', c, 4);
    } else {
      AppendEscape(out, 'U', c, 8);
    }
  }
  return out + "\"";
}

}  // namespace berth::api

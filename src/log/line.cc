// Line: see line.h.
#include "log/line.h"

#include <ctime>

#include <charconv>
#include <cmath>
#include <variant>

namespace berth::log {

namespace {

constexpr char kHex[] = "0123456789abcdef";

// The code point at *pos, which is advanced; invalid UTF-8 gives false and advances by one byte.
bool NextRune(std::string_view text, size_t* pos, uint32_t* rune) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(*pos);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
  uint32_t value = length == 1 ? first : first & (0xff >> (length + 1));
  bool valid = length != 0 && first < 0xf5 && *pos + length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(*pos + i) & 0xc0) == 0x80;
    value = value << 6 | (byte(*pos + i) & 0x3f);
  }
  valid = valid && (length != 3 || (value >= 0x800 && (value < 0xd800 || value > 0xdfff))) &&
          (length != 4 || (value >= 0x10000 && value <= 0x10ffff));
  *pos += valid ? length : 1;
  *rune = valid ? value : first;
  return valid;
}

// Spaces that are not U+0020, invisible marks, private and unassigned planes: what a log must not
// hide. (Go decides by Unicode's categories; here they are merged into ranges.)
bool Printable(uint32_t rune) {
  if (rune < 0x20 || rune == 0x7f) return false;
  if (rune < 0x7f) return true;
  constexpr struct {
    uint32_t first, last;
  } kHidden[] = {{0x80, 0xa0},       {0xad, 0xad},       {0x600, 0x605},   {0x61c, 0x61c},
                 {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x1680, 0x1680}, {0x180e, 0x180e},
                 {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f}, {0x3000, 0x3000},
                 {0xd800, 0xf8ff},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb}, {0xfffe, 0xffff},
                 {0x323b0, 0xe00ff}, {0xe01f0, 0x10ffff}};
  for (const auto& range : kHidden) {
    if (rune >= range.first && rune <= range.last) return false;
  }
  return true;
}

// How many characters of `text` from `pos` on need no escaping in either quoting.
size_t PlainRun(std::string_view text, size_t pos) {
  size_t end = pos;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x7f && text[end] != '"' &&
         text[end] != '\\') {
    ++end;
  }
  return end - pos;
}

// The calendar of a second, kept per thread: lines come many in a second.
const std::tm& LocalTime(int64_t seconds) {
  thread_local int64_t known = -1;
  thread_local std::tm calendar = {};
  if (seconds != known) {
    const std::time_t when = seconds;
    localtime_r(&when, &calendar);
    known = seconds;
  }
  return calendar;
}

}  // namespace

std::string_view BaseName(std::string_view path, bool folder) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return path;
  if (folder) {
    const size_t upper = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1);
    return upper == std::string_view::npos ? path : path.substr(upper + 1);
  }
  return path.substr(slash + 1);
}

void Line::Number(int64_t value) {
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void Line::Number(double value) {
  if (!std::isfinite(value)) {
    out_.append(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"+Inf\"" : "\"-Inf\"");
    return;
  }
  char digits[32];
  const double size = std::fabs(value);
  const auto format = size == 0 || (size >= 1e-6 && size < 1e21) ? std::chars_format::fixed
                                                                 : std::chars_format::scientific;
  char* end = std::to_chars(digits, digits + sizeof digits, value, format).ptr;
  // encoding/json writes 1e-9 where others write 1e-09.
  if (end - digits > 4 && end[-4] == 'e' && end[-3] == '-' && end[-2] == '0') {
    end[-2] = end[-1];
    --end;
  }
  out_.append(digits, end);
}

void Line::Padded(uint32_t value, int width, char pad) {
  char digits[12];
  char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  for (int i = static_cast<int>(end - digits); i < width; ++i) out_.push_back(pad);
  out_.append(digits, end);
}

void Line::TextHead(const Head& head) {
  const std::tm& when = LocalTime(head.time.seconds);
  out_.push_back(head.severity);
  Padded(static_cast<uint32_t>(when.tm_mon + 1), 2, '0');
  Padded(static_cast<uint32_t>(when.tm_mday), 2, '0');
  out_.push_back(' ');
  Padded(static_cast<uint32_t>(when.tm_hour), 2, '0');
  out_.push_back(':');
  Padded(static_cast<uint32_t>(when.tm_min), 2, '0');
  out_.push_back(':');
  Padded(static_cast<uint32_t>(when.tm_sec), 2, '0');
  out_.push_back('.');
  Padded(static_cast<uint32_t>(head.time.nanoseconds / 1000), 6, '0');
  out_.push_back(' ');
  Padded(static_cast<uint32_t>(head.pid), 7, ' ');
  out_.push_back(' ');
  out_.append(BaseName(head.file));
  out_.push_back(':');
  Padded(head.line, 1, '0');
  out_.append("] ");
}

void Line::EscapedRune(uint32_t rune) {
  const int digits = rune < 0x80 ? 2 : rune < 0x10000 ? 4 : 8;
  out_.append(rune < 0x80 ? "\\x" : rune < 0x10000 ? "\\u" : "\\U");
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out_.push_back(kHex[rune >> shift & 0xf]);
  }
}

void Line::Quote(std::string_view text) {
  constexpr std::string_view kNamed = "\a\b\t\n\v\f\r";  // 7 to 13
  out_.push_back('"');
  for (size_t pos = 0; pos < text.size();) {
    if (const size_t run = PlainRun(text, pos); run > 0) {
      out_.append(text.substr(pos, run));
      pos += run;
      continue;
    }
    const size_t start = pos;
    uint32_t rune = 0;
    if (!NextRune(text, &pos, &rune)) {
      out_.append("\\x");
      out_.push_back(kHex[rune >> 4]);
      out_.push_back(kHex[rune & 0xf]);
    } else if (rune == '"' || rune == '\\') {
      out_.push_back('\\');
      out_.push_back(static_cast<char>(rune));
    } else if (Printable(rune)) {
      out_.append(text.substr(start, pos - start));
    } else if (rune >= 7 && rune < 7 + kNamed.size()) {
      out_.push_back('\\');
      out_.push_back("abtnvfr"[rune - 7]);
    } else {
      EscapedRune(rune);
    }
  }
  out_.push_back('"');
}

void Line::JsonQuote(std::string_view text) {
  out_.push_back('"');
  for (size_t pos = 0; pos < text.size();) {
    if (const size_t run = PlainRun(text, pos); run > 0) {
      out_.append(text.substr(pos, run));
      pos += run;
      continue;
    }
    const size_t start = pos;
    uint32_t rune = 0;
    if (!NextRune(text, &pos, &rune)) {
      out_.append("\\ufffd");
    } else if (rune == '"' || rune == '\\') {
      out_.push_back('\\');
      out_.push_back(static_cast<char>(rune));
    } else if (rune == '\n' || rune == '\r' || rune == '\t') {
      out_.append(rune == '\n' ? "\\n" : rune == '\r' ? "\\r" : "\\t");
    } else if (rune < 0x20) {
      out_.append("\\u00");
      out_.push_back(kHex[rune >> 4]);
      out_.push_back(kHex[rune & 0xf]);
    } else {
      out_.append(text.substr(start, pos - start));
    }
  }
  out_.push_back('"');
}

// A value of several lines: each on its own, indented by a tab, so that it can be read.
void Line::Block(std::string_view text) {
  out_.append("<\n");
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out_.push_back('\t');
    out_.append(text.substr(0, end));
    out_.push_back('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out_.append(" >");
}

// Line breaks in JSON stand between tokens only.
void Line::Flat(std::string_view text) {
  for (const char c : text) out_.push_back(c == '\n' || c == '\r' ? ' ' : c);
}

void Line::TextField(const Field& field) {
  out_.push_back(' ');
  out_.append(field.key);
  out_.push_back('=');
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    if (text->find('\n') == std::string_view::npos) {
      Quote(*text);
    } else {
      Block(*text);
    }
  } else if (const auto* number = std::get_if<int64_t>(&field.value)) {
    Number(*number);
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    Number(*real);
  } else if (const auto* truth = std::get_if<bool>(&field.value)) {
    out_.append(*truth ? "true" : "false");
  } else if (const auto* object = std::get_if<ObjectName>(&field.value)) {
    out_.push_back('"');
    out_.append(object->namespace_);
    if (!object->namespace_.empty()) out_.push_back('/');
    out_.append(object->name);
    out_.push_back('"');
  } else if (const auto* raw = std::get_if<log::Raw>(&field.value)) {
    Flat(raw->json);
  }
}

void Line::JsonHead(const Head& head, std::string_view message) {
  out_.append("{\"ts\":");
  // Milliseconds with a fraction, as a double has it.
  Number(static_cast<double>(head.time.seconds * 1'000'000'000 + head.time.nanoseconds) / 1e6);
  if (!head.logger.empty()) {
    out_.append(",\"logger\":");
    JsonQuote(head.logger);
  }
  out_.append(",\"caller\":\"");
  out_.append(BaseName(head.file, true));
  out_.push_back(':');
  Padded(head.line, 1, '0');
  out_.append("\",\"msg\":");
  JsonQuote(message);
}

void Line::JsonField(const Field& field) {
  out_.push_back(',');
  JsonQuote(field.key);
  out_.push_back(':');
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    JsonQuote(*text);
  } else if (const auto* number = std::get_if<int64_t>(&field.value)) {
    Number(*number);
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    Number(*real);
  } else if (const auto* truth = std::get_if<bool>(&field.value)) {
    out_.append(*truth ? "true" : "false");
  } else if (const auto* object = std::get_if<ObjectName>(&field.value)) {
    out_.append("{\"name\":");
    JsonQuote(object->name);
    if (!object->namespace_.empty()) {
      out_.append(",\"namespace\":");
      JsonQuote(object->namespace_);
    }
    out_.push_back('}');
  } else if (const auto* raw = std::get_if<log::Raw>(&field.value)) {
    if (raw->json.empty()) {
      out_.append("null");
    } else {
      Flat(raw->json);
    }
  }
}

}  // namespace berth::log

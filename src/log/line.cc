// Line: see line.h.
#include "log/line.h"

#include <ctime>

#include <charconv>
#include <cmath>
#include <variant>

#include "base/visible.h"

namespace berth::log {

namespace {

constexpr char kHex[] = "0123456789abcdef";

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

void Line::Quote(std::string_view text) {
  out_.push_back('"');
  Escaped(text);
  out_.push_back('"');
}

void Line::Escaped(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    if (const size_t run = PlainRun(text, pos); run > 0) {
      out_.append(text.substr(pos, run));
      pos += run;
      continue;
    }
    const size_t start = pos;
    uint32_t rune = 0;
    const bool valid = NextRune(text, &pos, &rune);
    if (valid && (rune == '"' || rune == '\\')) {
      out_.push_back('\\');
      out_.push_back(static_cast<char>(rune));
    } else if (valid && IsPrintable(rune)) {
      out_.append(text.substr(start, pos - start));
    } else {
      AppendEscape(rune, valid, &out_);
    }
  }
}

void Line::Plain(std::string_view text) { AppendVisible(text, &out_, "\n\t"); }

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
    } else if (rune < 0x20 || (rune >= 0x7f && rune < 0xa0)) {
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
    AppendVisible(text.substr(0, end), &out_, "\t");
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
    Escaped(object->namespace_);
    if (!object->namespace_.empty()) out_.push_back('/');
    Escaped(object->name);
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

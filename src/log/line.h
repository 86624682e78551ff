// Line: one log line under construction, text or JSON. Private to this module.
//
// Quoting follows what klog prints: strconv.Quote in text, JSON strings in JSON. Reuses a buffer,
// so a line costs no allocation once the buffer has grown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/log.h"

namespace berth::log {

struct TimeOfDay {
  int64_t seconds = 0;  // since 1970
  int32_t nanoseconds = 0;
};

struct Head {
  char severity = 'I';  // 'I', 'W' or 'E'
  TimeOfDay time = {};
  int pid = 0;
  std::string_view file = {};  // path of the source
  uint32_t line = 0;
  std::string_view logger = {};  // in JSON; text has it as a field
};

class Line {
 public:
  explicit Line(std::string& buffer) : out_(buffer) { out_.clear(); }

  // "I1116 04:10:53.123456    4711 watch.cc:88] "
  void TextHead(const Head& head);
  // key=value with a space in front.
  void TextField(const Field& field);
  // {"ts":…,"logger":"PostFilter.DefaultPreemption","caller":"log/line.cc:12","msg":…
  void JsonHead(const Head& head, std::string_view message);
  // ,"key":value
  void JsonField(const Field& field);

  // strconv.Quote.
  void Quote(std::string_view text);
  // A JSON string; bytes that are no UTF-8 become U+FFFD.
  void JsonQuote(std::string_view text);
  void Raw(std::string_view text) { out_.append(text); }
  // As it is, with its line breaks, but for control characters.
  void Plain(std::string_view text);

 private:
  void Number(int64_t value);
  void Number(double value);
  void Padded(uint32_t value, int width, char pad);
  void Block(std::string_view text);
  void Flat(std::string_view text);
  // strconv.Quote without the quotes.
  void Escaped(std::string_view text);

  std::string& out_;
};

// The last part of a path; with `folder`, the last two.
std::string_view BaseName(std::string_view path, bool folder = false);

}  // namespace berth::log

#include "base/visible.h"

namespace berth {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// How many characters from `pos` on need no second look.
size_t PlainRun(std::string_view text, size_t pos) {
  size_t end = pos;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x7f) ++end;
  return end - pos;
}

}  // namespace

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

bool IsPrintable(uint32_t rune) {
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

void AppendEscape(uint32_t rune, bool valid, std::string* out) {
  constexpr uint32_t kFirstNamed = 7;  // \a
  constexpr std::string_view kNamed = "abtnvfr";
  if (valid && rune >= kFirstNamed && rune < kFirstNamed + kNamed.size()) {
    out->push_back('\\');
    out->push_back(kNamed[rune - kFirstNamed]);
    return;
  }
  const bool one_byte = !valid || rune < 0x80;
  const int digits = one_byte ? 2 : rune < 0x10000 ? 4 : 8;
  out->append(one_byte ? "\\x" : rune < 0x10000 ? "\\u" : "\\U");
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out->push_back(kHex[rune >> shift & 0xf]);
  }
}

void AppendVisible(std::string_view text, std::string* out, std::string_view kept) {
  for (size_t pos = 0; pos < text.size();) {
    if (const size_t run = PlainRun(text, pos); run > 0) {
      out->append(text.substr(pos, run));
      pos += run;
      continue;
    }
    const size_t start = pos;
    uint32_t rune = 0;
    const bool valid = NextRune(text, &pos, &rune);
    const bool keep = valid && (IsPrintable(rune) ||
                                (rune < 0x80 && kept.find(static_cast<char>(rune)) != kept.npos));
    if (keep) {
      out->append(text.substr(start, pos - start));
    } else {
      AppendEscape(rune, valid, out);
    }
  }
}

std::string Visible(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  AppendVisible(text, &out, kept);
  return out;
}

namespace {

// The four hex digits of \uXXXX at `pos`.
uint32_t HexAt(std::string_view json, size_t pos) {
  uint32_t value = 0;
  for (size_t i = pos; i < pos + 4 && i < json.size(); ++i) {
    const char c = json[i];
    value = value << 4 | static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

}  // namespace

std::string VisibleJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t pos = 0; pos < json.size();) {
    const char c = json[pos];
    if (c == '\\' && pos + 1 < json.size()) {
      const char kind = json[pos + 1];
      const size_t length = kind == 'u' ? 6 : 2;
      // Halves of a pair stand for something beyond the first plane, which stays as it is.
      const uint32_t rune = kind == 'u' ? HexAt(json, pos + 2) : 0;
      const bool half = rune >= 0xd800 && rune < 0xe000;
      const bool hidden = kind == 'u' ? !half && !IsPrintable(rune)
                                      : std::string_view("bfnrt").find(kind) != std::string::npos;
      if (hidden) out += '\\';
      out += json.substr(pos, length);
      pos += length;
      continue;
    }
    if ((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r') {  // between tokens
      out += c;
      ++pos;
      continue;
    }
    const size_t start = pos;
    uint32_t rune = 0;
    const bool valid = NextRune(json, &pos, &rune);
    if (valid && IsPrintable(rune)) {
      out += json.substr(start, pos - start);
    } else {
      out += '\\';
      AppendEscape(rune, valid, &out);
    }
  }
  return out;
}

}  // namespace berth

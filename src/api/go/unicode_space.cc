#include "api/go/unicode_space.h"

#include <array>

namespace berth::api {
namespace {

bool IsAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// White space beyond ASCII. U+2000 to U+200A share their first two bytes and are checked apart.
constexpr std::array<std::string_view, 8> kWide = {"\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80",
                                                   "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF",
                                                   "\xE2\x81\x9F", "\xE3\x80\x80"};

bool IsWideSpace(std::string_view rune) {
  if (rune.size() == 3 && rune.substr(0, 2) == "\xE2\x80") {
    const auto last = static_cast<unsigned char>(rune[2]);
    if (last >= 0x80 && last <= 0x8A) return true;
  }
  for (const std::string_view space : kWide) {
    if (rune == space) return true;
  }
  return false;
}

}  // namespace

size_t LeadingSpace(std::string_view text) {
  if (text.empty()) return 0;
  if (static_cast<unsigned char>(text[0]) < 0x80) return IsAsciiSpace(text[0]) ? 1 : 0;
  for (const size_t n : {2, 3}) {
    if (text.size() >= n && IsWideSpace(text.substr(0, n))) return n;
  }
  return 0;
}

size_t TrailingSpace(std::string_view text) {
  if (text.empty()) return 0;
  if (static_cast<unsigned char>(text.back()) < 0x80) return IsAsciiSpace(text.back()) ? 1 : 0;
  for (const size_t n : {2, 3}) {
    if (text.size() >= n && IsWideSpace(text.substr(text.size() - n))) return n;
  }
  return 0;
}

std::string_view TrimUnicodeSpace(std::string_view text) {
  while (const size_t n = LeadingSpace(text)) text.remove_prefix(n);
  while (const size_t n = TrailingSpace(text)) text.remove_suffix(n);
  return text;
}

}  // namespace berth::api

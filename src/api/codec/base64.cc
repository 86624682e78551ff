#include "api/codec/base64.h"

#include <cstdint>

namespace berth::api {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

void AppendBase64(std::string& out, std::string_view data) {
  for (size_t i = 0; i < data.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < data.size() ? static_cast<uint8_t>(data[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > data.size();
      out += padding ? '=' : kAlphabet[group >> (18 - 6 * j) & 63];
    }
  }
}

bool DecodeBase64(std::string_view text, std::string& out) {
  out.clear();
  uint32_t group = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int digit = Digit(c);
    if (digit < 0 || padding > 0) return false;
    group = group << 6 | static_cast<uint32_t>(digit);
    if (++digits % 4 == 0) {
      out += static_cast<char>(group >> 16 & 255);
      out += static_cast<char>(group >> 8 & 255);
      out += static_cast<char>(group & 255);
    }
  }
  const size_t rest = digits % 4;
  if (rest == 1 || (rest + padding) % 4 != 0 || padding > 2) return false;
  if (rest == 3) {
    out += static_cast<char>(group >> 10 & 255);
    out += static_cast<char>(group >> 2 & 255);
  } else if (rest == 2) {
    out += static_cast<char>(group >> 4 & 255);
  }
  return true;
}

}  // namespace berth::api

// Bytes as hexadecimal digits, to compare requests with recorded ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::kube {

inline std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

}  // namespace berth::kube

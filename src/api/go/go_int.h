// Integers as Go's strconv.ParseInt(text, 10, 64) reads them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::api {

// An optional sign and digits, all of `text`, within int64.
inline std::optional<int64_t> ParseGoInt(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

}  // namespace berth::api

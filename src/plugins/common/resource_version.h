// Resource versions as the API server hands them out: numbers that grow with every write.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::plugins {

// A resource version as a number; nothing if it is none.
inline std::optional<int64_t> ParseVersion(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

// Is `a` a later version of the object than `b`? False when that cannot be known.
template <class T>
bool IsNewerVersion(const T& a, const T& b) {
  const auto version_a = ParseVersion(a.metadata.resource_version);
  const auto version_b = ParseVersion(b.metadata.resource_version);
  return version_a && version_b && *version_a > *version_b;
}

}  // namespace berth::plugins

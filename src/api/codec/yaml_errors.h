// Error messages shared by the two YAML decoders.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/go/go_text.h"

namespace berth::api::yaml {

// `key` as %#v prints it.
inline std::string DuplicateKey(size_t line, std::string_view key) {
  return fmt::format("line {}: key {} already set in map", line, key);
}

inline std::string UnmarshalErrors(const std::vector<std::string>& texts) {
  return fmt::format("yaml: unmarshal errors:\n  {}", fmt::join(texts, "\n  "));
}

inline std::string UnsupportedValue(double value) {
  return "json: unsupported value: " + FormatGoFloat(value);
}

}  // namespace berth::api::yaml

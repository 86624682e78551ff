// The words for fields of a configuration that are wrong. Private to this room.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/go/error_list.h"
#include "api/go/go_text.h"
#include "api/rules/qualified_name.h"
#include "config/behaviour.h"

namespace berth::config {

using FieldErrors = std::vector<std::string>;

// `parent` is empty for the root.
inline std::string Child(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}
inline std::string Item(std::string_view parent, size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

// `value` as it is printed: a number or JSON.
template <class T>
std::string Invalid(std::string_view path, const T& value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, value, detail);
}

inline std::string Required(std::string_view path, std::string_view detail = {}) {
  return fmt::format("{}: Required value{}{}", path, detail.empty() ? "" : ": ", detail);
}

inline std::string Duplicate(std::string_view path, std::string_view value) {
  return fmt::format("{}: Duplicate value: {}", path, api::GoQuote(value));
}

// One error per rule of label names that `name` breaks.
inline void CheckLabelName(std::string_view path, std::string_view name, const Behaviour& behaviour,
                           FieldErrors& errors) {
  for (const std::string& problem : api::QualifiedNameErrors(name)) {
    errors.push_back(api::InvalidString(
        path, name, behaviour.says_label_key ? api::InLaterWords(problem) : problem));
  }
}

}  // namespace berth::config

// What a reflector asks for and how it reads refusals. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "kube/kinds.h"

namespace berth::kube {

// "*v1.Pod", as logs name the type.
inline std::string TypeName(const Kind& kind) {
  const std::string_view version = kind.api_version.substr(kind.api_version.find('/') + 1);
  return fmt::format("*{}.{}", version, kind.kind);
}

inline void AddParameter(std::string& query, std::string_view name, std::string_view value) {
  if (!query.empty()) query += '&';
  query.append(name).append("=").append(value);
}

inline bool IsExpired(int code, std::string_view reason) {
  return code == 410 || reason == "Expired" || reason == "Gone";
}

inline bool IsTooLargeVersion(std::string_view message) {
  return message.find("Too large resource version") != std::string_view::npos;
}

}  // namespace berth::kube

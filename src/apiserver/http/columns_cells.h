// Cells that the columns of many kinds share. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/http/columns.h"
#include "apiserver/http/table.h"

namespace berth::apiserver {

inline std::string OrNone(std::string_view text) {
  return text.empty() ? "<none>" : std::string(text);
}

inline Json NameCell(const Json& object, const api::Time&) { return object["metadata"]["name"]; }
inline Json AgeCell(const Json& object, const api::Time& now) {
  return Age(object["metadata"]["creationTimestamp"].Str(), now);
}
inline constexpr Column kName{"Name", "string", false, NameCell};
inline constexpr Column kAge{"Age", "string", false, AgeCell};

}  // namespace berth::apiserver

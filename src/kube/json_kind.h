// What kind of value a piece of JSON is, in the words of Go's encoding/json.
#pragma once

#include <string_view>

namespace berth::kube {

// REQUIRES: `json` is not empty and has no space in front.
inline std::string_view JsonKind(std::string_view json) {
  switch (json.front()) {
    case '{':
      return "object";
    case '[':
      return "array";
    case '"':
      return "string";
    case 't':
    case 'f':
      return "bool";
    default:
      return "number";
  }
}

}  // namespace berth::kube

// How lists of the built-in kinds are merged: by the key of their elements, as sets, or not at all.
#pragma once

#include <string_view>

namespace berth::apiserver {

struct ListType {
  enum class Kind { kAtomic, kMap, kSet };
  Kind kind = Kind::kAtomic;
  std::string_view key = "";         // of strategic merge patches
  std::string_view second_key = "";  // with the key, identifies an element for server-side apply
};

// `path` is the names of fields from the object to the list with dots, list elements left out:
// "spec.template.spec.containers.ports". Pod specs are recognised wherever they are.
ListType ListTypeOf(std::string_view path);

// Whether a patch to this field replaces keys that are not named ("$retainKeys" in the Go types).
bool AtomicForApply(std::string_view path);

}  // namespace berth::apiserver

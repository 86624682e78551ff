// How go-yaml v2 resolves a scalar to a typed value, and Go's spelling of such values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api::yaml {

enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kFloat, kString };

// One scalar. `text` holds the value of kString only, and may point into the scalar it was resolved
// from.
struct Scalar {
  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t unsigned_integer = 0;  // kUint: above the range of int64
  double real = 0;
  std::string_view text;
};

// The value of a scalar node. `tag` is empty if the node has none; `plain` says that it was written
// without quotes. `storage` backs `text` where it is not a part of `value` (!!binary). Errors carry
// no "yaml: " prefix.
Result<Scalar> ResolveScalar(std::string_view tag, std::string_view value, bool plain,
                             std::string& storage);

// Whether go-yaml reads the text as a !!timestamp.
bool IsTimestamp(std::string_view text);

// Whether this node as a key asks for a merge.
bool IsMergeKey(std::string_view tag, std::string_view value, bool plain);

// The JSON text of the scalar. REQUIRES: not NaN, not infinite.
void AppendJson(std::string& out, const Scalar& scalar);

// The value as %#v prints it.
std::string GoSyntax(const Scalar& scalar);

}  // namespace berth::api::yaml

// The three patches of the API: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes'
// strategic merge patch.
//
// Time is linear in the sizes of object and patch, apart from lists merged by key, which are
// indexed.
#pragma once

#include <string>
#include <string_view>

#include "api/codec/json_scan.h"
#include "apiserver/json/value.h"
#include "base/error.h"

namespace berth::apiserver {

// What one JSON patch may cost. A few hundred bytes of copies that double what they copy would
// otherwise take all memory.
struct JsonPatchLimits {
  size_t operations = 10'000;         // as kube-apiserver
  size_t copied_bytes = 3u << 20;     // by "copy", of all operations together
  size_t depth = api::kMaxJsonDepth;  // of the target after every operation
  size_t work = 100'000'000;          // values that are visited or moved
};

// Operations one after the other; the error names the one that failed. `target` is left half
// changed then. `too_large` is set when a limit but the depth was reached.
Result<void> ApplyJsonPatch(Json& target, const Json& operations,
                            const JsonPatchLimits& limits = {}, bool* too_large = nullptr);

void ApplyMergePatch(Json& target, const Json& patch);

// The merge patch that turns `from` into `to`.
Json MakeMergePatch(const Json& from, const Json& to);

// Lists of the built-in kinds are merged as their Go types say (list_types.h), others are replaced.
// Knows $patch: replace|delete|merge, $retainKeys, $deleteFromPrimitiveList and $setElementOrder.
Result<void> ApplyStrategicMergePatch(Json& target, const Json& patch);

}  // namespace berth::apiserver

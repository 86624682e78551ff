// The three patches of the API: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes'
// strategic merge patch.
//
// Time is linear in the sizes of object and patch, apart from lists merged by key, which are
// indexed.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "base/error.h"

namespace berth::apiserver {

// Operations one after the other; the error names the one that failed. `target` is left half
// changed then.
Result<void> ApplyJsonPatch(Json& target, const Json& operations);

void ApplyMergePatch(Json& target, const Json& patch);

// The merge patch that turns `from` into `to`.
Json MakeMergePatch(const Json& from, const Json& to);

// Lists of the built-in kinds are merged as their Go types say (list_types.h), others are replaced.
// Knows $patch: replace|delete|merge, $retainKeys, $deleteFromPrimitiveList and $setElementOrder.
Result<void> ApplyStrategicMergePatch(Json& target, const Json& patch);

}  // namespace berth::apiserver

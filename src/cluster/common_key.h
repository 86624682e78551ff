// The key of what pods have in common when each of them has volumes and claims of its own.
#pragma once

#include <string>

#include "api/core/pod.h"

namespace berth::cluster {

// As AppendShapeKey (cluster/pod_shape.h), without the pod's volumes and resource claims: equal for
// two pods exactly when these are all that their shapes may differ in.
void AppendCommonKey(const api::Pod& pod, std::string* key);

}  // namespace berth::cluster

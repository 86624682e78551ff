// The key of what pods have in common when each of them has labels, volumes or claims of its own.
#pragma once

#include <string>

#include "api/core/pod.h"

namespace berth::cluster {

// As AppendShapeKey (cluster/pod_shape.h), without the pod's labels, volumes and resource claims:
// equal for two pods exactly when these are all that their shapes may differ in. Such pods are of
// one kind, as those of a StatefulSet or of an indexed Job are.
void AppendKindKey(const api::Pod& pod, std::string* key);

}  // namespace berth::cluster

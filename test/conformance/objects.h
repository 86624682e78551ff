// The objects of a recorded cluster.
#pragma once

#include <simdjson.h>

#include "base/error.h"
#include "cluster/cluster.h"

namespace berth::conformance {

// Loads the lists of `objects` ("nodes", "pods", "pvcs", ...) into a cluster; absent ones are
// empty.
Result<void> LoadObjects(simdjson::dom::element objects, cluster::Cluster& into);

}  // namespace berth::conformance

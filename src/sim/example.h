// An example cluster: nodes of several kinds and workloads of several shapes.
#pragma once

#include <cstddef>
#include <functional>

#include "api/object.h"
#include "base/error.h"

namespace berth::sim {

// Hands `nodes` nodes in three zones and workloads with `pods` pods in all to `consume`, as a
// person would write them. The same numbers give the same cluster.
Result<void> ExampleCluster(size_t nodes, size_t pods,
                            const std::function<Result<void>(api::Object)>& consume);

}  // namespace berth::sim

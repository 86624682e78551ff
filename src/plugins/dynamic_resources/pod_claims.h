// The resource claims of a pod, and their state for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/pod.h"

namespace berth::plugins::dynamic_resources {

// The claims of the pod in the order of its spec, without those that are deliberately omitted. An
// error for the user when one is missing, being deleted or owned by another pod.
Result<std::vector<const api::ResourceClaim*>> PodClaims(const cluster::ObjectStore& objects,
                                                         const cluster::Pod& pod);

// Is the pod listed as a user of the claim?
bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid);

}  // namespace berth::plugins::dynamic_resources

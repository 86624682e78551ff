// Admission: what the API server adds to or refuses of an object because of other objects.
#pragma once

#include "apiserver/json/value.h"
#include "apiserver/registry/registry.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"

namespace berth::apiserver {

// Priorities, default tolerations, service accounts, limit ranges, cluster addresses, default
// storage classes. REQUIRES: defaults are set.
Answer<void> AdmitNew(Registry& registry, const Resource& resource, Json& object);
Answer<void> AdmitUpdate(Registry& registry, const Resource& resource, Json& object,
                         const Json& old);

}  // namespace berth::apiserver

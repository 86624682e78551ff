// HorizontalPodAutoscalers of autoscaling/v1, which are kept as autoscaling/v2. Private to this
// folder.
#pragma once

#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

bool IsOldAutoscaler(const Resource& asked);

// Both change the object in place; its apiVersion is the caller's. What v1 has no field for goes
// into annotations, from which FromOldAutoscaler reads it back.
void ToOldAutoscaler(Json& object);
void FromOldAutoscaler(Json& object);

}  // namespace berth::apiserver

// Defaults of the built-in kinds, as the API server fills them in before it stores an object.
#pragma once

#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// What needs nothing but the object. Applying it twice changes nothing.
void SetDefaults(const Resource& resource, Json& object);

// Of a pod or a template's spec.
void SetPodSpecDefaults(Json& spec);

// "Guaranteed", "Burstable" or "BestEffort".
std::string_view QosClass(const Json& pod_spec);

}  // namespace berth::apiserver

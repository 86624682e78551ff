// What allocated devices wait for before a pod that uses them may be bound: the binding conditions
// of a device, which its driver reports in the status of the claim (the feature gate
// DRADeviceBindingConditions).
#pragma once

#include "api/resource/resource_claim.h"
#include "api/time.h"
#include "base/error.h"

namespace berth::plugins::dynamic_resources {

// How long devices have since they were allocated, and a pod waits for them.
inline constexpr int64_t kBindingTimeoutNs = 600'000'000'000;

bool HasBindingConditions(const api::ResourceClaim& claim);

// Does every device of the claim meet all its conditions? An error for the user when the driver
// reports a failure.
Result<bool> IsReadyForBinding(const api::ResourceClaim& claim);

// Has the timeout for the binding conditions passed?
bool IsBindingOverdue(const api::ResourceClaim& claim, const api::Time& now);

}  // namespace berth::plugins::dynamic_resources

// What allocated devices wait for before a pod that uses them may be bound: the binding conditions
// of a device, which its driver reports in the status of the claim (the feature gate
// DRADeviceBindingConditions).
#pragma once

#include <cstdint>
#include <string>

#include "api/resource/resource_claim.h"
#include "api/time.h"
#include "base/error.h"
#include "config/behaviour.h"

namespace berth::plugins::dynamic_resources {

struct BindingRules {
  // How long devices have since they were allocated, and a pod waits for them: the argument
  // bindingTimeout from 1.35 on.
  int64_t timeout_ns = 600'000'000'000;
  config::Release release = config::Release::k1_34;  // whose error messages
};

bool HasBindingConditions(const api::ResourceClaim& claim);

// Does every device of the claim meet all its conditions? An error for the user when the driver
// reports a failure.
Result<bool> IsReadyForBinding(const api::ResourceClaim& claim, const BindingRules& rules);

// Has the timeout for the binding conditions passed?
bool IsBindingOverdue(const api::ResourceClaim& claim, const BindingRules& rules,
                      const api::Time& now);

// The error message in that case: of this claim; of the pod as a whole.
std::string OverdueMessage(const api::ResourceClaim& claim, const BindingRules& rules);
std::string OverdueMessage(const BindingRules& rules);

}  // namespace berth::plugins::dynamic_resources

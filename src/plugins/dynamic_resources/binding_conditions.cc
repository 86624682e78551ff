#include "plugins/dynamic_resources/binding_conditions.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/go/go_text.h"

namespace berth::plugins::dynamic_resources {
namespace {

using Results = std::vector<api::DeviceRequestAllocationResult>;

const api::AllocatedDeviceStatus* StatusOf(const api::ResourceClaim& claim,
                                           const api::DeviceRequestAllocationResult& result) {
  const auto& devices = claim.status.devices;
  const auto it = std::find_if(devices.begin(), devices.end(), [&](const auto& device) {
    return device.device == result.device && device.driver == result.driver &&
           device.pool == result.pool;
  });
  return it == devices.end() ? nullptr : &*it;
}

// The condition of this type if it is true.
const api::Condition* FindTrue(const std::vector<api::Condition>& conditions,
                               const std::string& type) {
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [&](const api::Condition& c) { return c.type == type; });
  return it == conditions.end() || it->status != "True" ? nullptr : &*it;
}

// By release: whether errors begin with their kind.
constexpr std::array kNamesErrors{false, false, true, true};
bool NamesErrors(const BindingRules& rules) {
  return kNamesErrors.at(static_cast<size_t>(rules.release));
}

}  // namespace

bool HasBindingConditions(const api::ResourceClaim& claim) {
  if (!claim.status.allocation) return false;
  const Results& results = claim.status.allocation->devices.results;
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return !result.binding_conditions.empty(); });
}

Result<bool> IsReadyForBinding(const api::ResourceClaim& claim, const BindingRules& rules) {
  if (!claim.status.allocation) return false;
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.binding_conditions.empty()) continue;
    const api::AllocatedDeviceStatus* status = StatusOf(claim, result);
    if (status == nullptr) return false;
    for (const std::string& type : result.binding_failure_conditions) {
      const api::Condition* failed = FindTrue(status->conditions, type);
      if (failed == nullptr) continue;
      const std::string& name = claim.metadata.name;
      return Fail((NamesErrors(rules) ? "device binding failed: claim=" + name + ", reason="
                                      : "claim " + name + " binding failed: reason=") +
                  failed->reason + ", message=" + api::GoQuote(failed->message));
    }
    for (const std::string& type : result.binding_conditions) {
      if (FindTrue(status->conditions, type) == nullptr) return false;
    }
  }
  return true;
}

bool IsBindingOverdue(const api::ResourceClaim& claim, const BindingRules& rules,
                      const api::Time& now) {
  if (!HasBindingConditions(claim) || !claim.status.allocation->allocation_timestamp) return false;
  const api::Time& allocated = *claim.status.allocation->allocation_timestamp;
  return allocated.UnixNano() + rules.timeout_ns < now.UnixNano();
}

std::string OverdueMessage(const api::ResourceClaim& claim, const BindingRules& rules) {
  const std::string& name = claim.metadata.name;
  return NamesErrors(rules) ? "device binding timeout: claim=" + name
                            : "claim " + name + " binding timeout";
}

std::string OverdueMessage(const BindingRules& rules) {
  return NamesErrors(rules) ? "device binding timeout: context deadline exceeded"
                            : "device binding timeout";
}

}  // namespace berth::plugins::dynamic_resources

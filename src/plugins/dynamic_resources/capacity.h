// Capacity: what a request takes of a device that several claims may share.
//
// A device's policy rounds a request up to a valid amount; a capacity without a request costs the
// policy's default, or all of it. Decides as kube-scheduler does with DRAConsumableCapacity.
#pragma once

#include <string>

#include "api/resource/device.h"
#include "api/resource/device_claim.h"
#include "api/rules/resource_list.h"
#include "config/behaviour.h"

namespace berth::plugins::dynamic_resources {

// May be shared by claims, each of which consumes a part of its capacity.
inline bool IsShared(const api::Device& device) {
  return device.allow_multiple_allocations.value_or(false);
}

// What the request would consume of each of the device's capacities. `request` may be null. The
// device has capacity for it.
api::ResourceList ConsumedCapacity(const api::Device& device,
                                   const api::CapacityRequirements* request,
                                   const config::DraFeatures& features);

// True when the device has every requested capacity, in a valid amount, and enough of it is left.
// `consumed` and `reserved` are in use by others; null: none. From 1.37 on (capacity_errors_fail)
// an amount that cannot be rounded, or is negative, sets `error`.
bool HasCapacityFor(const api::Device& device, const api::CapacityRequirements* request,
                    const api::ResourceList* consumed, const api::ResourceList* reserved,
                    const config::DraFeatures& features, std::string* error);

void AddCapacity(const api::ResourceList& amounts, api::ResourceList* to);
void SubtractCapacity(const api::ResourceList& amounts, api::ResourceList* from);

}  // namespace berth::plugins::dynamic_resources

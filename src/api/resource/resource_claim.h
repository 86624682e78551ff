// ResourceClaim: a request for devices, and what was allocated to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/meta.h"
#include "api/resource/device_claim.h"
#include "api/rules/resource_list.h"
#include "api/time.h"

namespace berth::api {

// The request.
struct ResourceClaimSpec {
  DeviceClaim devices;

  bool operator==(const ResourceClaimSpec&) const = default;
  static const TypeInfo& Type();
};

// One device allocated for one request.
struct DeviceRequestAllocationResult {
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<std::string> share_id;
  ResourceList consumed_capacity;

  bool operator==(const DeviceRequestAllocationResult&) const = default;
  static const TypeInfo& Type();
};

// Configuration that goes with an allocation.
struct DeviceAllocationConfiguration {
  std::string source;
  std::vector<std::string> requests;
  Box<OpaqueDeviceConfiguration> opaque;

  bool operator==(const DeviceAllocationConfiguration&) const = default;
  static const TypeInfo& Type();
};

// All devices of an allocation.
struct DeviceAllocationResult {
  std::vector<DeviceRequestAllocationResult> results;
  std::vector<DeviceAllocationConfiguration> config;

  bool operator==(const DeviceAllocationResult&) const = default;
  static const TypeInfo& Type();
};

// The devices, and the nodes on which they can be used.
struct AllocationResult {
  DeviceAllocationResult devices;
  Box<NodeSelector> node_selector;
  std::optional<Time> allocation_timestamp;

  bool operator==(const AllocationResult&) const = default;
  static const TypeInfo& Type();
};

// Who uses the claim, normally a pod.
struct ResourceClaimConsumerReference {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;

  bool operator==(const ResourceClaimConsumerReference&) const = default;
  static const TypeInfo& Type();
};

// What the driver reports of an allocated device.
struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<std::string> share_id;
  std::vector<Condition> conditions;

  bool operator==(const AllocatedDeviceStatus&) const = default;
  static const TypeInfo& Type();
};

// Allocation and users of the claim.
struct ResourceClaimStatus {
  Box<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;

  bool operator==(const ResourceClaimStatus&) const = default;
  static const TypeInfo& Type();
};

// A claim on devices.
struct ResourceClaim {
  static constexpr std::string_view kApiVersion = "resource.k8s.io/v1";
  static constexpr std::string_view kKind = "ResourceClaim";

  ObjectMeta metadata;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;

  bool operator==(const ResourceClaim&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

#include "api/resource/resource_claim.h"

namespace berth::api {

const TypeInfo& ResourceClaimSpec::Type() {
  static const TypeInfo type = Describe<ResourceClaimSpec>("ResourceClaimSpec")
                                   .Always(1, "devices", &ResourceClaimSpec::devices)
                                   .Build();
  return type;
}

const TypeInfo& DeviceRequestAllocationResult::Type() {
  static const TypeInfo type =
      Describe<DeviceRequestAllocationResult>("DeviceRequestAllocationResult")
          .Always(1, "request", &DeviceRequestAllocationResult::request)
          .Always(2, "driver", &DeviceRequestAllocationResult::driver)
          .Always(3, "pool", &DeviceRequestAllocationResult::pool)
          .Always(4, "device", &DeviceRequestAllocationResult::device)
          .Field(5, "adminAccess", &DeviceRequestAllocationResult::admin_access)
          .Field(6, "tolerations", &DeviceRequestAllocationResult::tolerations)
          .Field(7, "bindingConditions", &DeviceRequestAllocationResult::binding_conditions)
          .Field(8, "bindingFailureConditions",
                 &DeviceRequestAllocationResult::binding_failure_conditions)
          .Field(9, "shareID", &DeviceRequestAllocationResult::share_id)
          .Field(10, "consumedCapacity", &DeviceRequestAllocationResult::consumed_capacity)
          .Build();
  return type;
}

const TypeInfo& DeviceAllocationConfiguration::Type() {
  static const TypeInfo type =
      Describe<DeviceAllocationConfiguration>("DeviceAllocationConfiguration")
          .Always(1, "source", &DeviceAllocationConfiguration::source)
          .Field(2, "requests", &DeviceAllocationConfiguration::requests)
          .Inline(3)
          .Field(1, "opaque", &DeviceAllocationConfiguration::opaque)
          .EndInline()
          .Build();
  return type;
}

const TypeInfo& DeviceAllocationResult::Type() {
  static const TypeInfo type = Describe<DeviceAllocationResult>("DeviceAllocationResult")
                                   .Field(1, "results", &DeviceAllocationResult::results)
                                   .Field(2, "config", &DeviceAllocationResult::config)
                                   .Build();
  return type;
}

const TypeInfo& AllocationResult::Type() {
  static const TypeInfo type =
      Describe<AllocationResult>("AllocationResult")
          .Always(1, "devices", &AllocationResult::devices)
          .Field(3, "nodeSelector", &AllocationResult::node_selector)
          .Field(5, "allocationTimestamp", &AllocationResult::allocation_timestamp)
          .Build();
  return type;
}

const TypeInfo& ResourceClaimConsumerReference::Type() {
  static const TypeInfo type =
      Describe<ResourceClaimConsumerReference>("ResourceClaimConsumerReference")
          .Field(1, "apiGroup", &ResourceClaimConsumerReference::api_group)
          .Always(3, "resource", &ResourceClaimConsumerReference::resource)
          .Always(4, "name", &ResourceClaimConsumerReference::name)
          .Always(5, "uid", &ResourceClaimConsumerReference::uid)
          .Build();
  return type;
}

const TypeInfo& AllocatedDeviceStatus::Type() {
  static const TypeInfo type = Describe<AllocatedDeviceStatus>("AllocatedDeviceStatus")
                                   .Always(1, "driver", &AllocatedDeviceStatus::driver)
                                   .Always(2, "pool", &AllocatedDeviceStatus::pool)
                                   .Always(3, "device", &AllocatedDeviceStatus::device)
                                   .Field(7, "shareID", &AllocatedDeviceStatus::share_id)
                                   .Always(4, "conditions", &AllocatedDeviceStatus::conditions)
                                   .Ignore({"data", "networkData"})
                                   .Build();
  return type;
}

const TypeInfo& ResourceClaimStatus::Type() {
  static const TypeInfo type = Describe<ResourceClaimStatus>("ResourceClaimStatus")
                                   .Field(1, "allocation", &ResourceClaimStatus::allocation)
                                   .Field(2, "reservedFor", &ResourceClaimStatus::reserved_for)
                                   .Field(4, "devices", &ResourceClaimStatus::devices)
                                   .Build();
  return type;
}

const TypeInfo& ResourceClaim::Type() {
  static const TypeInfo type = Describe<ResourceClaim>("ResourceClaim")
                                   .Always(1, "metadata", &ResourceClaim::metadata)
                                   .Always(2, "spec", &ResourceClaim::spec)
                                   .Always(3, "status", &ResourceClaim::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api

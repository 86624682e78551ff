#include "api/resource/device_claim.h"

namespace berth::api {

const TypeInfo& CELDeviceSelector::Type() {
  static const TypeInfo type = Describe<CELDeviceSelector>("CELDeviceSelector")
                                   .Always(1, "expression", &CELDeviceSelector::expression)
                                   .Build();
  return type;
}

const TypeInfo& DeviceSelector::Type() {
  static const TypeInfo type =
      Describe<DeviceSelector>("DeviceSelector").Field(1, "cel", &DeviceSelector::cel).Build();
  return type;
}

const TypeInfo& DeviceToleration::Type() {
  static const TypeInfo type =
      Describe<DeviceToleration>("DeviceToleration")
          .Field(1, "key", &DeviceToleration::key)
          .Field(2, "operator", &DeviceToleration::operator_)
          .Field(3, "value", &DeviceToleration::value)
          .Field(4, "effect", &DeviceToleration::effect)
          .Field(5, "tolerationSeconds", &DeviceToleration::toleration_seconds)
          .Build();
  return type;
}

const TypeInfo& CapacityRequirements::Type() {
  static const TypeInfo type = Describe<CapacityRequirements>("CapacityRequirements")
                                   .Field(1, "requests", &CapacityRequirements::requests)
                                   .Build();
  return type;
}

const TypeInfo& ExactDeviceRequest::Type() {
  static const TypeInfo type =
      Describe<ExactDeviceRequest>("ExactDeviceRequest")
          .Always(1, "deviceClassName", &ExactDeviceRequest::device_class_name)
          .Field(2, "selectors", &ExactDeviceRequest::selectors)
          .Field(3, "allocationMode", &ExactDeviceRequest::allocation_mode)
          .Field(4, "count", &ExactDeviceRequest::count)
          .Field(5, "adminAccess", &ExactDeviceRequest::admin_access)
          .Field(6, "tolerations", &ExactDeviceRequest::tolerations)
          .Field(7, "capacity", &ExactDeviceRequest::capacity)
          .Build();
  return type;
}

const TypeInfo& DeviceSubRequest::Type() {
  static const TypeInfo type =
      Describe<DeviceSubRequest>("DeviceSubRequest")
          .Always(1, "name", &DeviceSubRequest::name)
          .Always(2, "deviceClassName", &DeviceSubRequest::device_class_name)
          .Field(3, "selectors", &DeviceSubRequest::selectors)
          .Field(4, "allocationMode", &DeviceSubRequest::allocation_mode)
          .Field(5, "count", &DeviceSubRequest::count)
          .Field(6, "tolerations", &DeviceSubRequest::tolerations)
          .Field(7, "capacity", &DeviceSubRequest::capacity)
          .Build();
  return type;
}

const TypeInfo& DeviceRequest::Type() {
  static const TypeInfo type = Describe<DeviceRequest>("DeviceRequest")
                                   .Always(1, "name", &DeviceRequest::name)
                                   .Field(2, "exactly", &DeviceRequest::exactly)
                                   .Field(3, "firstAvailable", &DeviceRequest::first_available)
                                   .Build();
  return type;
}

const TypeInfo& DeviceConstraint::Type() {
  static const TypeInfo type =
      Describe<DeviceConstraint>("DeviceConstraint")
          .Field(1, "requests", &DeviceConstraint::requests)
          .Field(2, "matchAttribute", &DeviceConstraint::match_attribute)
          .Field(3, "distinctAttribute", &DeviceConstraint::distinct_attribute)
          .Build();
  return type;
}

const TypeInfo& OpaqueDeviceConfiguration::Type() {
  static const TypeInfo type = Describe<OpaqueDeviceConfiguration>("OpaqueDeviceConfiguration")
                                   .Always(1, "driver", &OpaqueDeviceConfiguration::driver)
                                   .Always(2, "parameters", &OpaqueDeviceConfiguration::parameters)
                                   .Build();
  return type;
}

const TypeInfo& DeviceClaimConfiguration::Type() {
  static const TypeInfo type = Describe<DeviceClaimConfiguration>("DeviceClaimConfiguration")
                                   .Field(1, "requests", &DeviceClaimConfiguration::requests)
                                   .Inline(2)
                                   .Field(1, "opaque", &DeviceClaimConfiguration::opaque)
                                   .EndInline()
                                   .Build();
  return type;
}

const TypeInfo& DeviceClassConfiguration::Type() {
  static const TypeInfo type = Describe<DeviceClassConfiguration>("DeviceClassConfiguration")
                                   .Inline(1)
                                   .Field(1, "opaque", &DeviceClassConfiguration::opaque)
                                   .EndInline()
                                   .Build();
  return type;
}

const TypeInfo& DeviceClaim::Type() {
  static const TypeInfo type = Describe<DeviceClaim>("DeviceClaim")
                                   .Always(1, "requests", &DeviceClaim::requests)
                                   .Field(2, "constraints", &DeviceClaim::constraints)
                                   .Field(3, "config", &DeviceClaim::config)
                                   .Build();
  return type;
}

}  // namespace berth::api

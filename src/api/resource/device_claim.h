// What a claim or a device class specifies about devices: requests, selectors, constraints,
// configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/rules/resource_list.h"
#include "api/values.h"

namespace berth::api {

// A CEL expression over the attributes of a device.
struct CELDeviceSelector {
  std::string expression;

  bool operator==(const CELDeviceSelector&) const = default;
  static const TypeInfo& Type();
};

// Exactly one kind of selector is set.
struct DeviceSelector {
  std::optional<CELDeviceSelector> cel;

  bool operator==(const DeviceSelector&) const = default;
  static const TypeInfo& Type();
};

// Lets a request take devices with matching taints.
struct DeviceToleration {
  std::string key;
  std::string operator_;
  std::string value;
  std::string effect;
  std::optional<int64_t> toleration_seconds;

  bool operator==(const DeviceToleration&) const = default;
  static const TypeInfo& Type();
};

// Amounts a request needs of a shared device.
struct CapacityRequirements {
  ResourceList requests;

  bool operator==(const CapacityRequirements&) const = default;
  static const TypeInfo& Type();
};

// A request for devices of one class.
struct ExactDeviceRequest {
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;

  bool operator==(const ExactDeviceRequest&) const = default;
  static const TypeInfo& Type();
};

// One alternative of a request.
struct DeviceSubRequest {
  std::string name;
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  int64_t count = 0;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;

  bool operator==(const DeviceSubRequest&) const = default;
  static const TypeInfo& Type();
};

// One request: exactly this, or the first available of several.
struct DeviceRequest {
  std::string name;
  Box<ExactDeviceRequest> exactly;
  std::vector<DeviceSubRequest> first_available;

  bool operator==(const DeviceRequest&) const = default;
  static const TypeInfo& Type();
};

// Devices of the requests must share an attribute, or differ in it.
struct DeviceConstraint {
  std::vector<std::string> requests;
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;

  bool operator==(const DeviceConstraint&) const = default;
  static const TypeInfo& Type();
};

// Configuration for the driver, passed on unread.
struct OpaqueDeviceConfiguration {
  std::string driver;
  RawJson parameters;

  bool operator==(const OpaqueDeviceConfiguration&) const = default;
  static const TypeInfo& Type();
};

// Configuration of some requests of a claim.
struct DeviceClaimConfiguration {
  std::vector<std::string> requests;
  Box<OpaqueDeviceConfiguration> opaque;

  bool operator==(const DeviceClaimConfiguration&) const = default;
  static const TypeInfo& Type();
};

// Configuration of a device class.
struct DeviceClassConfiguration {
  Box<OpaqueDeviceConfiguration> opaque;

  bool operator==(const DeviceClassConfiguration&) const = default;
  static const TypeInfo& Type();
};

// All requests of a claim.
struct DeviceClaim {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;

  bool operator==(const DeviceClaim&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

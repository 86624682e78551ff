// DeviceTaintRule: a taint an administrator puts on all devices that a selector matches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/resource/device.h"
#include "api/resource/device_claim.h"

namespace berth::api {

// Devices must match all that is set; without anything, every device does.
struct DeviceTaintSelector {
  std::optional<std::string> device_class_name;
  std::optional<std::string> driver;
  std::optional<std::string> pool;
  std::optional<std::string> device;
  std::vector<DeviceSelector> selectors;

  bool operator==(const DeviceTaintSelector&) const = default;
  static const TypeInfo& Type();
};

// The taint and where it goes.
struct DeviceTaintRuleSpec {
  std::optional<DeviceTaintSelector> device_selector;
  DeviceTaint taint;

  bool operator==(const DeviceTaintRuleSpec&) const = default;
  static const TypeInfo& Type();
};

// A rule that adds a taint to devices.
struct DeviceTaintRule {
  static constexpr std::string_view kApiVersion = "resource.k8s.io/v1alpha3";
  static constexpr std::string_view kKind = "DeviceTaintRule";

  ObjectMeta metadata;
  DeviceTaintRuleSpec spec;

  bool operator==(const DeviceTaintRule&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

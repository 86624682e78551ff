// DeviceClass: devices an administrator offers under one name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/resource/device_claim.h"

namespace berth::api {

// Which devices belong to the class, and how they are configured.
struct DeviceClassSpec {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  std::optional<std::string> extended_resource_name;

  bool operator==(const DeviceClassSpec&) const = default;
  static const TypeInfo& Type();
};

// A named class of devices.
struct DeviceClass {
  static constexpr std::string_view kApiVersion = "resource.k8s.io/v1";
  static constexpr std::string_view kKind = "DeviceClass";

  ObjectMeta metadata;
  DeviceClassSpec spec;

  bool operator==(const DeviceClass&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

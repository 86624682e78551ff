// Service: what makes pods of one selector spread by default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/string_map.h"
#include "api/values.h"

namespace berth::api {

// A port of the service.
struct ServicePort {
  std::string name;
  std::string protocol;
  std::optional<std::string> app_protocol;
  int32_t port = 0;
  IntOrString target_port;
  int32_t node_port = 0;

  bool operator==(const ServicePort&) const = default;
  static const TypeInfo& Type();
};

// Which pods belong to the service.
struct ServiceSpec {
  std::vector<ServicePort> ports;
  StringMap selector;
  std::string cluster_ip;
  std::string type;

  bool operator==(const ServiceSpec&) const = default;
  static const TypeInfo& Type();
};

// A named set of pods.
struct Service {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Service";

  ObjectMeta metadata;
  ServiceSpec spec;

  bool operator==(const Service&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

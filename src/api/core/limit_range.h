// LimitRange: defaults for requests and limits in a namespace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/rules/resource_list.h"

namespace berth::api {

// Bounds and defaults for containers, pods or claims.
struct LimitRangeItem {
  std::string type;
  ResourceList max;
  ResourceList min;
  ResourceList default_;
  ResourceList default_request;
  ResourceList max_limit_request_ratio;

  bool operator==(const LimitRangeItem&) const = default;
  static const TypeInfo& Type();
};

// All bounds of the object.
struct LimitRangeSpec {
  std::vector<LimitRangeItem> limits;

  bool operator==(const LimitRangeSpec&) const = default;
  static const TypeInfo& Type();
};

// Bounds and defaults of a namespace.
struct LimitRange {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "LimitRange";

  ObjectMeta metadata;
  LimitRangeSpec spec;

  bool operator==(const LimitRange&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// PriorityClass: the priority a pod gets by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// A named priority.
struct PriorityClass {
  static constexpr std::string_view kApiVersion = "scheduling.k8s.io/v1";
  static constexpr std::string_view kKind = "PriorityClass";

  ObjectMeta metadata;
  int32_t value = 0;
  bool global_default = false;
  std::string description;
  std::optional<std::string> preemption_policy;

  bool operator==(const PriorityClass&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

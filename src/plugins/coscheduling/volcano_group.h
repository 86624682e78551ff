// PodGroup (scheduling.volcano.sh/v1beta1): pods that start together. A pod joins a group of its
// namespace by an annotation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::plugins::coscheduling {

inline constexpr std::array<std::string_view, 2> kVolcanoGroupAnnotations = {
    "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"};

// What the group cycle uses of it.
struct VolcanoPodGroupSpec {
  int32_t min_member = 0;
  std::string priority_class_name;

  bool operator==(const VolcanoPodGroupSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct VolcanoPodGroup {
  api::ObjectMeta metadata;
  VolcanoPodGroupSpec spec;

  bool operator==(const VolcanoPodGroup&) const = default;
  static const api::TypeInfo& Type();
};

inline const cluster::CustomKind& VolcanoPodGroupKind() {
  static const cluster::CustomKind kKind{"scheduling.volcano.sh", "v1beta1", "PodGroup",
                                         "podgroups", true};
  return kKind;
}

}  // namespace berth::plugins::coscheduling

// PodGroup (scheduling.x-k8s.io/v1alpha1): pods that are placed together. A pod joins a group of
// its namespace by a label.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/values.h"
#include "cluster/objects/custom_kinds.h"
#include "cluster/pods/pod.h"

namespace berth::plugins::coscheduling {

inline constexpr std::string_view kGroupLabel = "scheduling.x-k8s.io/pod-group";

struct PodGroupSpec {
  int32_t min_member = 0;
  std::optional<api::ResourceList> min_resources;
  std::optional<int32_t> schedule_timeout_seconds;

  bool operator==(const PodGroupSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct PodGroup {
  api::ObjectMeta metadata;
  PodGroupSpec spec;

  bool operator==(const PodGroup&) const = default;
  static const api::TypeInfo& Type();
};

inline const cluster::CustomKind& PodGroupKind() {
  static const cluster::CustomKind kKind{"scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups",
                                         true};
  return kKind;
}

// The name of the pod's group, which is in its namespace; null: it has none.
inline const std::string* GroupOf(const cluster::PodShape& shape) {
  const std::string* name = api::FindValue(shape.source.metadata.labels, kGroupLabel);
  return name == nullptr || name->empty() ? nullptr : name;
}

}  // namespace berth::plugins::coscheduling

// DaemonSet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/core/pod.h"
#include "api/meta.h"

namespace berth::api {

// The pod every matching node runs.
struct DaemonSetSpec {
  std::optional<LabelSelector> selector;
  PodTemplateSpec template_;
  int32_t min_ready_seconds = 0;
  std::optional<int32_t> revision_history_limit;

  bool operator==(const DaemonSetSpec&) const = default;
  static const TypeInfo& Type();
};

// How many nodes run the pod.
struct DaemonSetStatus {
  int32_t current_number_scheduled = 0;
  int32_t number_misscheduled = 0;
  int32_t desired_number_scheduled = 0;
  int32_t number_ready = 0;
  int64_t observed_generation = 0;
  int32_t updated_number_scheduled = 0;
  int32_t number_available = 0;
  int32_t number_unavailable = 0;
  std::optional<int32_t> collision_count;

  bool operator==(const DaemonSetStatus&) const = default;
  static const TypeInfo& Type();
};

// Keeps one pod per matching node running.
struct DaemonSet {
  static constexpr std::string_view kApiVersion = "apps/v1";
  static constexpr std::string_view kKind = "DaemonSet";

  ObjectMeta metadata;
  DaemonSetSpec spec;
  DaemonSetStatus status;

  bool operator==(const DaemonSet&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

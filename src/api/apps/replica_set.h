// ReplicaSet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/core/pod.h"
#include "api/meta.h"

namespace berth::api {

// How many pods of the template should run.
struct ReplicaSetSpec {
  std::optional<int32_t> replicas;
  int32_t min_ready_seconds = 0;
  std::optional<LabelSelector> selector;
  PodTemplateSpec template_;

  bool operator==(const ReplicaSetSpec&) const = default;
  static const TypeInfo& Type();
};

// How many pods run.
struct ReplicaSetStatus {
  int32_t replicas = 0;
  int32_t fully_labeled_replicas = 0;
  int32_t ready_replicas = 0;
  int32_t available_replicas = 0;
  std::optional<int32_t> terminating_replicas;
  int64_t observed_generation = 0;

  bool operator==(const ReplicaSetStatus&) const = default;
  static const TypeInfo& Type();
};

// Keeps a number of equal pods running.
struct ReplicaSet {
  static constexpr std::string_view kApiVersion = "apps/v1";
  static constexpr std::string_view kKind = "ReplicaSet";

  ObjectMeta metadata;
  ReplicaSetSpec spec;
  ReplicaSetStatus status;

  bool operator==(const ReplicaSet&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

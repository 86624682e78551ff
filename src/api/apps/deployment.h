// Deployment.
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
struct DeploymentSpec {
  std::optional<int32_t> replicas;
  std::optional<LabelSelector> selector;
  PodTemplateSpec template_;
  int32_t min_ready_seconds = 0;
  std::optional<int32_t> revision_history_limit;
  bool paused = false;

  bool operator==(const DeploymentSpec&) const = default;
  static const TypeInfo& Type();
};

// How many pods run.
struct DeploymentStatus {
  int64_t observed_generation = 0;
  int32_t replicas = 0;
  int32_t updated_replicas = 0;
  int32_t ready_replicas = 0;
  int32_t available_replicas = 0;
  int32_t unavailable_replicas = 0;
  std::optional<int32_t> terminating_replicas;
  std::optional<int32_t> collision_count;

  bool operator==(const DeploymentStatus&) const = default;
  static const TypeInfo& Type();
};

// Keeps a number of equal pods running through replica sets.
struct Deployment {
  static constexpr std::string_view kApiVersion = "apps/v1";
  static constexpr std::string_view kKind = "Deployment";

  ObjectMeta metadata;
  DeploymentSpec spec;
  DeploymentStatus status;

  bool operator==(const Deployment&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// ReplicationController.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "api/string_map.h"

namespace berth::api {

// How many pods of the template should run.
struct ReplicationControllerSpec {
  std::optional<int32_t> replicas;
  int32_t min_ready_seconds = 0;
  StringMap selector;
  Box<PodTemplateSpec> template_;

  bool operator==(const ReplicationControllerSpec&) const = default;
  static const TypeInfo& Type();
};

// How many pods run.
struct ReplicationControllerStatus {
  int32_t replicas = 0;
  int32_t ready_replicas = 0;
  int32_t available_replicas = 0;
  int64_t observed_generation = 0;

  bool operator==(const ReplicationControllerStatus&) const = default;
  static const TypeInfo& Type();
};

// Keeps a number of pods running.
struct ReplicationController {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "ReplicationController";

  ObjectMeta metadata;
  ReplicationControllerSpec spec;
  ReplicationControllerStatus status;

  bool operator==(const ReplicationController&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// StatefulSet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/pod.h"
#include "api/meta.h"

namespace berth::api {

// The number of the first pod.
struct StatefulSetOrdinals {
  int32_t start = 0;

  bool operator==(const StatefulSetOrdinals&) const = default;
  static const TypeInfo& Type();
};

// How many numbered pods of the template should run, and the claims each of them gets.
struct StatefulSetSpec {
  std::optional<int32_t> replicas;
  std::optional<LabelSelector> selector;
  PodTemplateSpec template_;
  std::vector<PersistentVolumeClaim> volume_claim_templates;
  std::string service_name;
  std::string pod_management_policy;
  std::optional<int32_t> revision_history_limit;
  int32_t min_ready_seconds = 0;
  std::optional<StatefulSetOrdinals> ordinals;

  bool operator==(const StatefulSetSpec&) const = default;
  static const TypeInfo& Type();
};

// How many pods run.
struct StatefulSetStatus {
  int64_t observed_generation = 0;
  int32_t replicas = 0;
  int32_t ready_replicas = 0;
  int32_t current_replicas = 0;
  int32_t updated_replicas = 0;
  std::string current_revision;
  std::string update_revision;
  std::optional<int32_t> collision_count;
  int32_t available_replicas = 0;

  bool operator==(const StatefulSetStatus&) const = default;
  static const TypeInfo& Type();
};

// Keeps numbered pods with their own storage running.
struct StatefulSet {
  static constexpr std::string_view kApiVersion = "apps/v1";
  static constexpr std::string_view kKind = "StatefulSet";

  ObjectMeta metadata;
  StatefulSetSpec spec;
  StatefulSetStatus status;

  bool operator==(const StatefulSet&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// PersistentVolumeClaim: a request for storage.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/reference.h"
#include "api/core/resources.h"
#include "api/meta.h"
#include "api/rules/resource_list.h"
#include "api/time.h"

namespace berth::api {

// The requested storage; volumeName is set once bound.
struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  Box<LabelSelector> selector;
  VolumeResourceRequirements resources;
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  std::optional<std::string> volume_mode;
  Box<TypedLocalObjectReference> data_source;
  Box<TypedObjectReference> data_source_ref;
  std::optional<std::string> volume_attributes_class_name;

  bool operator==(const PersistentVolumeClaimSpec&) const = default;
  static const TypeInfo& Type();
};

// A condition of the claim, for example a resize that waits for the node.
struct PersistentVolumeClaimCondition {
  std::string type;
  std::string status;
  Time last_probe_time;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const PersistentVolumeClaimCondition&) const = default;
  static const TypeInfo& Type();
};

// Whether the claim is bound and what it got.
struct PersistentVolumeClaimStatus {
  std::string phase;
  std::vector<std::string> access_modes;
  ResourceList capacity;
  std::vector<PersistentVolumeClaimCondition> conditions;
  std::optional<std::string> current_volume_attributes_class_name;

  bool operator==(const PersistentVolumeClaimStatus&) const = default;
  static const TypeInfo& Type();
};

// A claim on storage of a namespace.
struct PersistentVolumeClaim {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "PersistentVolumeClaim";

  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;

  bool operator==(const PersistentVolumeClaim&) const = default;
  static const TypeInfo& Type();
};

// The claim an ephemeral volume creates.
struct PersistentVolumeClaimTemplate {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;

  bool operator==(const PersistentVolumeClaimTemplate&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

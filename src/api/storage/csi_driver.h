// CSIDriver: what a CSI driver can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// Whether volumes are attached, and whether the driver publishes its capacity.
struct CSIDriverSpec {
  std::optional<bool> attach_required;
  std::optional<bool> pod_info_on_mount;
  std::vector<std::string> volume_lifecycle_modes;
  std::optional<bool> storage_capacity;
  std::optional<std::string> fs_group_policy;
  std::optional<bool> requires_republish;
  std::optional<bool> se_linux_mount;
  std::optional<int64_t> node_allocatable_update_period_seconds;
  std::optional<bool> prevent_pod_scheduling_if_missing;

  bool operator==(const CSIDriverSpec&) const = default;
  static const TypeInfo& Type();
};

// A CSI driver installed in the cluster.
struct CSIDriver {
  static constexpr std::string_view kApiVersion = "storage.k8s.io/v1";
  static constexpr std::string_view kKind = "CSIDriver";

  ObjectMeta metadata;
  CSIDriverSpec spec;

  bool operator==(const CSIDriver&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// StorageClass: how volumes are provisioned and when they are bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/meta.h"
#include "api/string_map.h"

namespace berth::api {

// A class of storage.
struct StorageClass {
  static constexpr std::string_view kApiVersion = "storage.k8s.io/v1";
  static constexpr std::string_view kKind = "StorageClass";

  ObjectMeta metadata;
  std::string provisioner;
  StringMap parameters;
  std::optional<std::string> reclaim_policy;
  std::vector<std::string> mount_options;
  std::optional<bool> allow_volume_expansion;
  std::optional<std::string> volume_binding_mode;
  std::vector<TopologySelectorTerm> allowed_topologies;

  bool operator==(const StorageClass&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

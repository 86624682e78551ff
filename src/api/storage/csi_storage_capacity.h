// CSIStorageCapacity: how much a driver can still provision in a topology segment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/rules/quantity.h"

namespace berth::api {

// Free capacity for a storage class where the node topology matches.
struct CSIStorageCapacity {
  static constexpr std::string_view kApiVersion = "storage.k8s.io/v1";
  static constexpr std::string_view kKind = "CSIStorageCapacity";

  ObjectMeta metadata;
  std::optional<LabelSelector> node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;

  bool operator==(const CSIStorageCapacity&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

// CSINode: the CSI drivers of a node, their limits and topology.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// How many volumes of a driver a node takes.
struct VolumeNodeResources {
  std::optional<int32_t> count;

  bool operator==(const VolumeNodeResources&) const = default;
  static const TypeInfo& Type();
};

// A driver on a node.
struct CSINodeDriver {
  std::string name;
  std::string node_id;
  std::vector<std::string> topology_keys;
  std::optional<VolumeNodeResources> allocatable;

  bool operator==(const CSINodeDriver&) const = default;
  static const TypeInfo& Type();
};

// All drivers of a node.
struct CSINodeSpec {
  std::vector<CSINodeDriver> drivers;

  bool operator==(const CSINodeSpec&) const = default;
  static const TypeInfo& Type();
};

// The drivers of the node with the same name.
struct CSINode {
  static constexpr std::string_view kApiVersion = "storage.k8s.io/v1";
  static constexpr std::string_view kKind = "CSINode";

  ObjectMeta metadata;
  CSINodeSpec spec;

  bool operator==(const CSINode&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

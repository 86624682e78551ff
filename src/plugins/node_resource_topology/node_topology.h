// NodeResourceTopology (topology.node.k8s.io/v1alpha2): the free resources of a node by NUMA cell,
// and how its kubelet aligns pods with cells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rules/quantity.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::plugins::node_resource_topology {

inline const cluster::CustomKind& TopologyKind() {
  static const cluster::CustomKind kKind{"topology.node.k8s.io", "v1alpha2", "NodeResourceTopology",
                                         "noderesourcetopologies", false};
  return kKind;
}

// By name. Keeps the order of names, so that results do not depend on hashing.
using Quantities = std::map<std::string, api::Quantity, std::less<>>;

struct NumaCell {
  int id = 0;  // 0 to 63
  Quantities available;
  Quantities allocatable;
  Quantities capacity;
  std::map<int, int64_t> costs;  // distances to other cells

  bool operator==(const NumaCell&) const = default;
};

enum class Policy : uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };
enum class Scope : uint8_t { kContainer, kPod };

struct NodeTopology {
  Policy policy = Policy::kNone;
  Scope scope = Scope::kContainer;
  int max_numa_nodes = 8;
  std::vector<NumaCell> cells;  // in the order of the object's zones
  // Which pods the object takes into account (PodFingerprint).
  bool has_fingerprint = false;  // else an annotation may have it
  std::string fingerprint;
  bool fingerprint_is_of_exclusive = false;  // of pods with exclusive resources alone

  bool operator==(const NodeTopology&) const = default;

  // Nothing when the text is not such an object. Zones that are no NUMA cells, or whose names carry
  // no number below 64, are left out.
  static std::optional<NodeTopology> Parse(std::string_view json);
};

}  // namespace berth::plugins::node_resource_topology

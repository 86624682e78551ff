// KubeletNode: the NUMA cells of a node as its kubelet's managers see them, and what the kubelet
// does with a pod.
//
// Admission is replayed with static policies, by the rules of Kubernetes 1.34. Where the outcome
// depends on what a NodeResourceTopology does not tell (which CPUs of a cell are taken, which of
// several sets of cells is closest), every outcome is followed. The node is at fault on the safe
// side: where there are too many outcomes, or cells whose use is unknown, it refuses.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/node_resource_topology/kubelet_pod.h"
#include "plugins/node_resource_topology/node_topology.h"

namespace berth::plugins::node_resource_topology {

inline constexpr size_t kMostExactCells = 8;
using PerCell = std::array<int64_t, kMostExactCells>;
using CellSet = uint16_t;  // a bit per cell, in the order of their numbers
// In CellUse::groups: it is not known who shares the cell's memory.
inline constexpr CellSet kUnknownGroup = 1U << kMostExactCells;

// What changes when pods are admitted.
struct CellUse {
  PerCell cpus{};                // free ones
  std::vector<PerCell> memory;   // free bytes, parallel to KubeletNode::memory
  std::vector<PerCell> devices;  // free ones, parallel to KubeletNode::devices
  // The cells that share the memory of a container with this one; none: no container has memory of
  // it.
  std::array<CellSet, kMostExactCells> groups{};

  auto operator<=>(const CellUse&) const = default;
};

class KubeletNode {
 public:
  struct Resource {
    std::string name;
    PerCell total{};
  };

  // Nothing when the topology has no cells or more than kMostExactCells.
  static std::optional<KubeletNode> Of(const NodeTopology& topology);

  // As published. `shares_memory`: some pod that is counted in there has memory of several cells.
  CellUse Published(const NodeTopology& topology, bool shares_memory) const;

  // Every use that may be there after the kubelet has admitted the pod. Nothing: it may refuse.
  std::optional<std::vector<CellUse>> Admit(const CellUse& use, const KubeletPod& pod) const;

  // How many cells the memory of a container, or of the pod, takes.
  int CellsForMemory(const KubeletPod& pod) const;
  // Whether the kubelet refuses pods that it cannot align.
  bool Refuses() const { return policy_ >= Policy::kRestricted; }
  Policy policy() const { return policy_; }
  Scope scope() const { return scope_; }

 private:
  friend class Admission;

  Policy policy_ = Policy::kNone;
  Scope scope_ = Scope::kContainer;
  size_t cells_ = 0;
  bool pins_cpus_ = false;
  bool pins_memory_ = false;
  PerCell cpus_{};  // all there are
  std::vector<Resource> memory_;
  std::vector<Resource> devices_;
};

}  // namespace berth::plugins::node_resource_topology

// Admission: one pod admitted by a kubelet, container by container, in every way it may go.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/node_resource_topology/kubelet_node.h"

namespace berth::plugins::node_resource_topology {

class Admission {
 public:
  explicit Admission(const KubeletNode& node) : node_(node) {}

  // See KubeletNode::Admit.
  std::optional<std::vector<CellUse>> Run(const CellUse& use, const KubeletPod& pod) const;
  // The fewest cells that could ever have the memory; 0: it asks for none.
  int CellsForMemory(const KubeletNeeds& needs) const;

 private:
  // A way the admission may have gone so far. What containers that end leave is used again.
  struct Way {
    CellUse use;
    PerCell left_cpus{};
    std::vector<std::vector<int64_t>> left_memory;  // by set of cells, parallel to memory
    std::vector<PerCell> left_devices;

    auto operator<=>(const Way&) const = default;
  };
  using Ways = std::vector<Way>;

  bool Has(CellSet cells, size_t cell) const { return (cells >> cell & 1U) != 0; }
  int64_t Sum(const PerCell& amounts, CellSet cells) const;
  CellSet CellsWith(const PerCell& amounts) const;
  // The fewest cells with that much in all.
  int FewestCells(const PerCell& total, int64_t n) const;

  bool MemoryFits(const Way& way, const KubeletNeeds& needs, CellSet cells) const;
  bool IsPreferred(const Way& way, const KubeletNeeds& needs, CellSet cells) const;
  // The sets of cells that the kubelet may choose; empty: it refuses.
  std::vector<CellSet> Choices(const Way& way, const KubeletNeeds& needs) const;
  // Nothing has a preference: all cells will do.
  bool IsIndifferent(const KubeletNeeds& needs) const;

  // Each appends the ways in which the container may get its own from `cells`. False: it may not.
  bool TakeCpus(const Way& way, const KubeletPod::Container& c, CellSet cells, Ways* out) const;
  bool TakeMemory(Way* way, const KubeletPod::Container& c, CellSet cells) const;
  bool TakeDevices(const Way& way, const KubeletPod::Container& c, CellSet cells, Ways* out) const;
  bool Take(const Way& way, const KubeletPod::Container& c, CellSet cells, Ways* out) const;

  const KubeletNode& node_;
};

}  // namespace berth::plugins::node_resource_topology

#include "plugins/node_resource_topology/align.h"

#include <bit>
#include <vector>

#include <fmt/format.h>

namespace berth::plugins::node_resource_topology {
namespace {

constexpr int kNoCell = -1;

class Aligner {
 public:
  Aligner(api::QosClass qos, const NodeTopology& topology,
          FunctionRef<bool(const std::string&)> has)
      : guaranteed_(qos == api::QosClass::kGuaranteed), cells_(topology.cells), has_(has) {}

  // The lowest cell with everything; kNoCell when there is none.
  int CellFor(const Needs& needs) const {
    uint64_t fits = ~uint64_t{0};
    for (const auto& [name, quantity] : needs) {
      if (quantity.IsZero()) continue;
      if (!has_(name)) return kNoCell;
      bool belongs_to_cells = false;
      uint64_t here = 0;
      for (const NumaCell& cell : cells_) {
        const auto it = cell.available.find(name);
        if (it == cell.available.end()) continue;
        belongs_to_cells = true;
        const bool suits = (!guaranteed_ && IsNumaAffine(name)) || it->second >= quantity;
        if (suits) here |= uint64_t{1} << cell.id;
      }
      if (!belongs_to_cells && IsHostLevel(name)) continue;
      fits &= here;
      if (fits == 0) return kNoCell;
    }
    return std::countr_zero(fits);
  }

  // Takes `needs` from the cell. Empty, or what the cell lacks.
  std::string Take(int id, const Needs& needs) {
    for (NumaCell& cell : cells_) {
      if (cell.id != id) continue;
      for (const auto& [name, quantity] : needs) {
        if ((!guaranteed_ && IsNumaAffine(name)) || quantity.IsZero()) continue;
        const auto it = cell.available.find(name);
        if (it == cell.available.end()) continue;
        api::Quantity left = it->second;
        left.Sub(quantity);
        if (left.Sign() < 0) {
          return fmt::format("resource \"{}\" request {} exceeds NUMA {} availability {}", name,
                             quantity.String(), id, it->second.String());
        }
        it->second = std::move(left);
      }
    }
    return "";
  }

 private:
  const bool guaranteed_;
  std::vector<NumaCell> cells_;  // what is left of them
  const FunctionRef<bool(const std::string&)> has_;
};

}  // namespace

Misfit Align(const PodNeeds& pod, const NodeTopology& topology,
             FunctionRef<bool(const std::string&)> has, std::string* error) {
  if (topology.policy != Policy::kSingleNumaNode) return Misfit::kNone;
  Aligner aligner(pod.qos, topology, has);
  if (topology.scope == Scope::kPod) {
    return aligner.CellFor(pod.pod) == kNoCell ? Misfit::kPod : Misfit::kNone;
  }
  for (const auto& [kind, needs] : pod.containers) {
    const int cell = aligner.CellFor(needs);
    if (kind != ContainerKind::kApp) {  // they run one by one, before the others
      if (cell != kNoCell) continue;
      return kind == ContainerKind::kInit ? Misfit::kInitContainer : Misfit::kSidecar;
    }
    if (cell == kNoCell) return Misfit::kContainer;
    *error = aligner.Take(cell, needs);
    if (!error->empty()) return Misfit::kNegative;
  }
  return Misfit::kNone;
}

}  // namespace berth::plugins::node_resource_topology

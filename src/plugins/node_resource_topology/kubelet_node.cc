#include "plugins/node_resource_topology/kubelet_node.h"

#include <algorithm>
#include <set>
#include <utility>

#include "plugins/node_resource_topology/kubelet_admission.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {
namespace {

// The amount of a cell that a pod may have; none: the cell does not list it.
std::optional<int64_t> AmountOf(const Quantities& amounts, const std::string& name) {
  const auto it = amounts.find(name);
  if (it == amounts.end()) return std::nullopt;
  return it->second.Value();
}

std::vector<const NumaCell*> Sorted(const NodeTopology& topology) {
  std::vector<const NumaCell*> cells;
  for (const NumaCell& cell : topology.cells) cells.push_back(&cell);
  std::sort(cells.begin(), cells.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  return cells;
}

}  // namespace

std::optional<KubeletNode> KubeletNode::Of(const NodeTopology& topology) {
  if (topology.cells.empty() || topology.cells.size() > kMostExactCells) return std::nullopt;
  KubeletNode node;
  node.policy_ = topology.policy;
  node.scope_ = topology.scope;
  node.cells_ = topology.cells.size();
  std::set<std::string> names;
  for (const NumaCell& cell : topology.cells) {
    for (const auto& [name, amount] : cell.available) names.insert(name);
  }
  const auto cells = Sorted(topology);
  for (const std::string& name : names) {
    Resource resource{name, {}};
    const bool is_memory = name != "cpu" && IsNumaAffine(name);
    for (size_t i = 0; i < cells.size(); ++i) {
      // All CPUs and devices count, of memory what the system has not reserved.
      const auto total = AmountOf(is_memory ? cells[i]->allocatable : cells[i]->capacity, name);
      resource.total[i] = total.value_or(0);
    }
    if (name == "cpu") {
      node.pins_cpus_ = true;
      node.cpus_ = resource.total;
    } else if (is_memory) {
      node.pins_memory_ |= name == "memory";
      node.memory_.push_back(std::move(resource));
    } else if (!IsNativeResource(name)) {
      node.devices_.push_back(std::move(resource));
    }
  }
  return node;
}

CellUse KubeletNode::Published(const NodeTopology& topology, bool shares_memory) const {
  CellUse use;
  const auto cells = Sorted(topology);
  const auto read = [&](const std::string& name) {
    PerCell free{};
    for (size_t i = 0; i < cells.size(); ++i) {
      free[i] = AmountOf(cells[i]->available, name).value_or(0);
    }
    return free;
  };
  // A fraction of a CPU is none.
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto it = cells[i]->available.find("cpu");
    if (it != cells[i]->available.end()) use.cpus[i] = it->second.MilliValue() / 1000;
  }
  for (const Resource& resource : memory_) use.memory.push_back(read(resource.name));
  for (const Resource& resource : devices_) use.devices.push_back(read(resource.name));
  for (size_t i = 0; i < cells_; ++i) {
    // With whom a cell shares is not published, and it may share while all of it is free: no pod
    // may have its memory then.
    if (shares_memory) use.groups[i] = kUnknownGroup;
    for (size_t r = 0; r < memory_.size() && !shares_memory; ++r) {
      if (use.memory[r][i] < memory_[r].total[i]) use.groups[i] = static_cast<CellSet>(1U << i);
    }
  }
  return use;
}

int KubeletNode::CellsForMemory(const KubeletPod& pod) const {
  if (scope_ == Scope::kPod) return Admission(*this).CellsForMemory(pod.together);
  int most = 0;
  for (const auto& container : pod.containers) {
    most = std::max(most, Admission(*this).CellsForMemory(container.needs));
  }
  return most;
}

std::optional<std::vector<CellUse>> KubeletNode::Admit(const CellUse& use,
                                                       const KubeletPod& pod) const {
  return Admission(*this).Run(use, pod);
}

}  // namespace berth::plugins::node_resource_topology

#include "sim/record/ledger.h"

#include <algorithm>

#include "api/rules/pod_requests.h"

namespace berth::sim {
namespace {

// Sums of amounts people wrote: far too large ones must not overflow.
int64_t Tamed(int64_t amount) { return std::clamp<int64_t>(amount, 0, int64_t{1} << 50); }

Amounts AllocatableOf(const api::Node& node) {
  const api::ResourceList& list = node.status.allocatable;
  const auto amount = [&](std::string_view name, bool milli) -> int64_t {
    const auto it = list.find(name);
    if (it == list.end()) return 0;
    return Tamed(milli ? it->second.MilliValue() : it->second.Value());
  };
  return {amount("cpu", true), amount("memory", false), amount("pods", false)};
}

}  // namespace

Amounts& Amounts::operator+=(const Amounts& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  pods += other.pods;
  return *this;
}

Amounts& Amounts::operator-=(const Amounts& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  pods -= other.pods;
  return *this;
}

Amounts RequestsOf(const api::Pod& pod) {
  const api::PodResources resources = api::PodResources::Of(pod);
  return {Tamed(resources.filter.milli_cpu), Tamed(resources.filter.memory), 1};
}

void Ledger::OnChange(const ApiChange& change) {
  if (const auto* pod = std::get_if<api::Pod>(change.object.get())) {
    OnPod(change, *pod);
  } else if (const auto* node = std::get_if<api::Node>(change.object.get())) {
    OnNode(change, *node);
  }
}

void Ledger::OnNode(const ApiChange& change, const api::Node& node) {
  NodeLine& line = nodes_[node.metadata.name];
  line.exists = change.type != ApiChange::Type::kDeleted;
  line.cordoned = node.spec.unschedulable;
  line.allocatable = AllocatableOf(node);
  if (!line.exists && line.requested == Amounts()) nodes_.erase(node.metadata.name);
}

void Ledger::OnPod(const ApiChange& change, const api::Pod& pod) {
  const bool counts =
      change.type != ApiChange::Type::kDeleted && !pod.spec.node_name.empty() && !IsFinished(pod);
  const auto place = places_.find(pod.metadata.uid);
  if (counts == (place != places_.end())) return;
  if (counts) {
    const Amounts amounts = RequestsOf(pod);
    nodes_[pod.spec.node_name].requested += amounts;
    places_.emplace(pod.metadata.uid, Place{pod.spec.node_name, amounts});
    return;
  }
  const auto node = nodes_.find(place->second.node);
  node->second.requested -= place->second.amounts;
  if (!node->second.exists && node->second.requested == Amounts()) nodes_.erase(node);
  places_.erase(place);
}

Ledger::Totals Ledger::Sum() const {
  Totals totals;
  for (const auto& [name, line] : nodes_) {
    if (!line.exists) continue;
    ++totals.nodes;
    totals.bound += line.requested.pods;
    totals.allocatable += line.allocatable;
    totals.requested += line.requested;
  }
  return totals;
}

Ledger::FreeSpace Ledger::Free(const Amounts& reference) const {
  FreeSpace space;
  for (const auto& [name, line] : nodes_) {
    if (!line.exists || line.cordoned) continue;
    Amounts free = line.allocatable;
    free -= line.requested;
    free = {std::max<int64_t>(0, free.milli_cpu), std::max<int64_t>(0, free.memory),
            std::max<int64_t>(0, free.pods)};
    space.free += free;
    int64_t fit = free.pods;
    if (reference.milli_cpu > 0) fit = std::min(fit, free.milli_cpu / reference.milli_cpu);
    if (reference.memory > 0) fit = std::min(fit, free.memory / reference.memory);
    space.headroom += fit;
    if (fit == 0) space.stranded += free;
  }
  return space;
}

}  // namespace berth::sim

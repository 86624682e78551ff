#include "plugins/node_resource_topology/exact_ledger.h"

#include <algorithm>
#include <utility>

#include "plugins/node_resource_topology/pod_fingerprint.h"
#include "plugins/node_resource_topology/worlds.h"

namespace berth::plugins::node_resource_topology {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;

// Sets of more pods that may or may not be counted are not searched.
constexpr size_t kMostUncertain = 12;

}  // namespace

const KubeletPod& ExactLedger::Of(const cluster::PodShape& shape) const {
  return pods_.Get(shape, [](const cluster::PodShape& of) { return KubeletPod(of.source); });
}

std::vector<ExactLedger::Known> ExactLedger::PodsOn(const Cluster& cluster, NodeIndex n,
                                                    bool exclusive) const {
  std::vector<Known> pods;
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    const auto make = [](const cluster::PodShape& of) { return PodNeeds(of.source); };
    const bool counted = !exclusive || needs_.Get(*pod.shape, make).IsExclusive();
    pods.push_back(
        {pod.uid, pod.namespace_(), pod.name, counted, !pod.start_time.IsZero(), Of(*pod.shape)});
  }
  return pods;
}

bool ExactLedger::Identify(const std::vector<Known>& present, Row* row) {
  std::vector<Known> certain;
  std::vector<Known> uncertain;
  for (const Known& pod : present) {
    if (!pod.counted) continue;
    const bool before = std::any_of(row->counted.begin(), row->counted.end(),
                                    [&](const Known& known) { return known.uid == pod.uid; });
    (before ? certain : uncertain).push_back(pod);
  }
  const size_t arrived = uncertain.size();  // the rest have gone
  for (const Known& known : row->counted) {
    const bool here = std::any_of(present.begin(), present.end(),
                                  [&](const Known& pod) { return known.uid == pod.uid; });
    if (!here) uncertain.push_back(known);
  }
  std::vector<bool> in(uncertain.size());
  const auto matches = [&] {
    PodFingerprint fingerprint;
    for (const Known& pod : certain) fingerprint.Add(pod.namespace_, pod.name);
    for (size_t i = 0; i < uncertain.size(); ++i) {
      if (in[i]) fingerprint.Add(uncertain[i].namespace_, uncertain[i].name);
    }
    return fingerprint.Sign() == row->topology->fingerprint;
  };
  const auto found = [&] {
    // Mostly it is those of the last time, or those that are there now, or those of them that their
    // kubelet has started.
    for (size_t i = arrived; i < uncertain.size(); ++i) in[i] = true;
    if (matches()) return true;
    in.assign(uncertain.size(), false);
    for (size_t i = 0; i < arrived; ++i) in[i] = true;
    if (matches()) return true;
    for (size_t i = 0; i < arrived; ++i) in[i] = uncertain[i].started;
    if (matches()) return true;
    if (uncertain.size() > kMostUncertain) return false;
    for (uint32_t set = 0; set < 1U << uncertain.size(); ++set) {
      for (size_t i = 0; i < uncertain.size(); ++i) in[i] = (set >> i & 1U) != 0;
      if (matches()) return true;
    }
    return false;
  };
  if (!found()) return false;
  row->counted = std::move(certain);
  for (size_t i = 0; i < uncertain.size(); ++i) {
    if (in[i]) row->counted.push_back(std::move(uncertain[i]));
  }
  return true;
}

void ExactLedger::Read(const Cluster& cluster, NodeIndex n, const NodeTopology* topology) {
  Row& row = rows_[n];
  if (row.name != cluster.NodeName(n)) row.counted.clear();  // the row was another node's
  row.name = cluster.NodeName(n);
  row.verdicts.clear();
  row.in_flight.clear();
  row.node.reset();
  row.topology.reset();
  row.identified = row.some_gone = false;
  if (topology == nullptr) return;
  row.topology = *topology;
  row.node = KubeletNode::Of(*topology);
  if (!row.node || !row.node->Refuses()) return;
  const auto present = PodsOn(cluster, n, topology->fingerprint_is_of_exclusive);
  row.identified = topology->has_fingerprint && Identify(present, &row);
  if (!row.identified) return;
  bool shares_memory = false;
  for (const Known& pod : row.counted) {
    shares_memory |= row.node->CellsForMemory(pod.needs) > 1;
    const bool here = std::any_of(present.begin(), present.end(),
                                  [&](const Known& other) { return other.uid == pod.uid; });
    row.some_gone |= !here && !pod.needs.Empty();
  }
  for (const Known& pod : present) {
    const bool counted = std::any_of(row.counted.begin(), row.counted.end(),
                                     [&](const Known& other) { return other.uid == pod.uid; });
    if (!counted && !pod.needs.Empty()) row.in_flight.push_back(pod.needs);
  }
  row.published = row.node->Published(*topology, shares_memory);
}

void ExactLedger::Update(const Cluster& cluster, const std::vector<const NodeTopology*>& topologies,
                         bool changed) {
  const auto of = [&](NodeIndex n) { return n < topologies.size() ? topologies[n] : nullptr; };
  const auto read = [&](NodeIndex n) {
    if (n < rows_.size()) Read(cluster, n, of(n));
  };
  const bool all = rows_.size() != cluster.Rows();
  rows_.resize(cluster.Rows());
  bool followed = !all && cluster.Changes().ForEachSince(position_, read);
  position_ = cluster.Changes().Read();
  for (NodeIndex n = 0; n < rows_.size(); ++n) {
    const NodeTopology* topology = of(n);
    const bool is_other = changed && (topology == nullptr ? rows_[n].topology.has_value()
                                                          : rows_[n].topology != *topology);
    if (!followed || is_other) read(n);
  }
}

ExactLedger::Verdict ExactLedger::VerdictOf(NodeIndex n, const cluster::PodShape& shape,
                                            const KubeletPod& pod) const {
  const Row& row = rows_[n];
  if (!row.topology || row.topology->policy < Policy::kRestricted || pod.Empty()) {
    return Verdict::kFits;
  }
  if (!row.identified) return Verdict::kUnknown;
  const auto [it, is_new] = row.verdicts.try_emplace(shape.serial, Verdict::kUnaligned);
  if (!is_new) return it->second;
  // A pod that finds more free cells than published may spread otherwise and come to nothing.
  const bool is_simple =
      row.in_flight.empty() && (row.node->scope() == Scope::kPod || pod.Aligned() <= 1);
  if (row.some_gone && !is_simple) {
    it->second = Verdict::kUnknown;
    return it->second;
  }
  std::vector<const KubeletPod*> in_flight;
  for (const KubeletPod& other : row.in_flight) in_flight.push_back(&other);
  if (FitsInEveryWorld(*row.node, row.published, in_flight, pod)) it->second = Verdict::kFits;
  return it->second;
}

}  // namespace berth::plugins::node_resource_topology

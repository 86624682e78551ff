// PodTopologySpread for classes of pods: which nodes it cannot tell apart, and its scores when one
// node of each kind stands for the others.
#include <algorithm>

#include "plugins/pod_topology_spread/state.h"

namespace berth::plugins::pod_topology_spread {

using framework::AlikeNodes;
using framework::CycleContext;
using framework::NodeIndex;
using framework::Status;

namespace {

// With so many constraints the counts one cycle asks for may push out each other.
constexpr size_t kLongList = 16;

// Traits of a node without the label, and of one whose label is empty: those count together.
constexpr int64_t kNoLabel = -1;
constexpr int64_t kEmptyLabel = -2;

}  // namespace

bool PodTopologySpread::AppendPremises(const CycleContext& c, framework::PluginState* plugin_state,
                                       std::vector<int64_t>* out) const {
  auto& state = static_cast<State&>(*plugin_state);
  if (state.compiled->lists->Hopeless()) return false;
  CompiledList& list = state.compiled->lists->soft;
  const bool scores = list.error.empty() && !list.constraints.empty();
  state.soft_count = 0;
  out->push_back(scores);
  if (!scores && state.hard_count == 0) return true;
  if (list.constraints.size() > kLongList) return false;
  cluster::TopologyCounters& topology = c.cluster.Topology();
  out->push_back(static_cast<int64_t>(topology.Generation()));
  if (!scores) {
    AppendLabels(c, plugin_state, out);
    return true;
  }
  if (state.soft.size() < list.constraints.size()) state.soft.resize(list.constraints.size());
  state.soft_count = list.constraints.size();
  for (size_t i = 0; i < list.constraints.size(); ++i) {
    CompiledConstraint& constraint = list.constraints[i];
    SoftState& soft = state.soft[i];
    constraint.eligible->Refresh(c.cluster);
    constraint.candidates->Refresh(c.cluster);
    soft.column = constraint.column;
    soft.counter = nullptr;
    soft.domains = nullptr;
    if (constraint.predicate.parts.empty()) continue;
    cluster::PodCounter& counter = topology.Use(constraint.predicate, constraint.handle);
    soft.counter = &counter;
    if (constraint.is_hostname) continue;
    soft.domains = &topology.Domains(counter, *constraint.column, constraint.eligible->Mask());
  }
  AppendLabels(c, plugin_state, out);
  return true;
}

// Labels decide what default constraints select by, and what match label keys add to a selector.
// That is a matter of traits where they count pods.
void PodTopologySpread::AppendLabels(const CycleContext&,
                                     const framework::PluginState* plugin_state,
                                     std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  out->push_back(static_cast<int64_t>(state.hard_count));
  for (size_t i = 0; i < state.hard_count; ++i) {
    const CompiledConstraint& constraint = *state.hard[i].constraint;
    if (!constraint.column->IsOnePerNode()) continue;
    out->push_back(static_cast<int64_t>(constraint.handle.serial));
  }
  out->push_back(static_cast<int64_t>(state.soft_count));
  for (size_t i = 0; i < state.soft_count; ++i) {
    const CompiledConstraint& constraint = state.compiled->lists->soft.constraints[i];
    if (!constraint.is_hostname && !constraint.column->IsOnePerNode()) continue;
    out->push_back(static_cast<int64_t>(constraint.handle.serial));
  }
}

void PodTopologySpread::AppendTraits(const CycleContext&,
                                     const framework::PluginState* plugin_state, NodeIndex n,
                                     std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  for (size_t i = 0; i < state.hard_count; ++i) {
    const HardState& hard = state.hard[i];
    const LabelColumn& column = *hard.constraint->column;
    const uint32_t code = column.codes[n];
    if (!column.IsOnePerNode()) {
      out->push_back(code);
    } else {
      out->push_back(code == LabelColumn::kAbsent ? kNoLabel : hard.counts.Get(code));
    }
  }
  for (size_t i = 0; i < state.soft_count; ++i) {
    const SoftState& soft = state.soft[i];
    const CompiledConstraint& constraint = state.compiled->lists->soft.constraints[i];
    const uint32_t code = soft.column->codes[n];
    if (constraint.is_hostname) {
      // Its pods count by node, and nodes by number, whatever the label says.
      const int64_t pods = soft.counter == nullptr ? 0 : soft.counter->Rows().Get(n);
      out->push_back(code == LabelColumn::kAbsent ? kNoLabel : pods);
    } else if (!soft.column->IsOnePerNode()) {
      out->push_back(code);
    } else if (code == LabelColumn::kAbsent) {
      out->push_back(kNoLabel);
    } else if (code == constraint.candidates->EmptyValueCode()) {
      out->push_back(kEmptyLabel);
    } else {
      out->push_back(soft.domains == nullptr ? 0 : soft.domains->Get(code));
    }
  }
}

// How many domains the candidates among the feasible nodes form.
size_t PodTopologySpread::CountDomainsAlike(std::span<const AlikeNodes> feasible,
                                            const CompiledConstraint& constraint,
                                            const NodeSet& candidates, State& state) {
  const LabelColumn& column = *constraint.column;
  auto& codes = state.seen_codes;
  codes.clear();
  size_t found = 0;
  for (const AlikeNodes& alike : feasible) {
    if (!candidates.Contains(alike.node)) continue;
    const uint32_t code = column.codes[alike.node];
    const uint32_t domain = constraint.candidates->DomainOf(code);
    const bool own = column.IsOnePerNode() && domain != LabelColumn::kAbsent &&
                     domain != constraint.candidates->EmptyValueCode();
    if (own || constraint.is_hostname) {
      found += alike.count;
    } else {
      codes.push_back(domain);
    }
  }
  std::sort(codes.begin(), codes.end());
  return found + static_cast<size_t>(std::unique(codes.begin(), codes.end()) - codes.begin());
}

Status PodTopologySpread::PreScoreAlike(const CycleContext& c, framework::PluginState* plugin_state,
                                        std::span<const AlikeNodes> feasible) const {
  auto& state = static_cast<State&>(*plugin_state);
  CompiledList& list = state.compiled->lists->soft;
  if (!list.error.empty()) return Status::Error("calculating preScoreState: " + list.error);
  if (list.constraints.empty()) return Status::Skip();
  const NodeSet& candidates = list.constraints[0].candidates->Mask()->nodes;
  state.scored = list.requires_all_keys ? &candidates : nullptr;
  for (size_t i = 0; i < list.constraints.size(); ++i) {
    CompiledConstraint& constraint = list.constraints[i];
    SoftState& soft = state.soft[i];
    BeginSoft(constraint, CountDomainsAlike(feasible, constraint, candidates, state), soft);
    if (!constraint.is_hostname) {
      cluster::PodCounter* counter =
          constraint.predicate.parts.empty()
              ? nullptr
              : &c.cluster.Topology().Use(constraint.predicate, constraint.handle);
      CountSoftDomains(c, constraint, counter, soft);
      continue;
    }
    const size_t rows = constraint.column->codes.size();
    if (soft.pods_memory.size() < rows) soft.pods_memory.resize(rows);
    soft.pods = soft.pods_memory.data();
    if (soft.counter == nullptr) continue;
    for (const AlikeNodes& alike : feasible) {
      soft.pods_memory[alike.node] = soft.counter->Rows().Get(alike.node);
      soft.touched.push_back(alike.node);
    }
  }
  FinishSoft(state);
  return {};
}

void PodTopologySpread::NormalizeAlike(const CycleContext&,
                                       const framework::PluginState* plugin_state,
                                       std::span<const AlikeNodes> feasible,
                                       std::span<int64_t> scores) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  Extent extent;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (state.scored == nullptr || state.scored->Contains(feasible[i].node)) {
      extent.Add(scores[i]);
    } else {
      scores[i] = kIgnored;
    }
  }
  for (int64_t& score : scores) score = extent.Normalized(score);
}

}  // namespace berth::plugins::pod_topology_spread

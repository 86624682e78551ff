// InterPodAffinity for classes of pods: which nodes it cannot tell apart, and its scores when one
// node of each kind stands for the others.
#include <algorithm>

#include "plugins/inter_pod_affinity/state.h"

namespace berth::plugins::inter_pod_affinity {

using framework::CycleContext;
using framework::NodeIndex;

namespace {

template <class Table>
void AppendColumns(const Table& tables, std::vector<int64_t>* out) {
  for (const auto& table : tables) out->push_back(reinterpret_cast<intptr_t>(&table.Column()));
  out->push_back(0);
}

// Where a domain is a node, what counts of its pods is the node's own; elsewhere the domain is.
template <class Table, class OfCount>
void AppendDomains(const Table& tables, NodeIndex n, OfCount&& of_count,
                   std::vector<int64_t>* out) {
  for (const auto& table : tables) {
    const uint32_t code = table.Column().codes[n];
    if (!table.Column().IsOnePerNode()) {
      out->push_back(code);
    } else {
      out->push_back(code == LabelColumn::kAbsent);
      out->push_back(of_count(table.Get(code)));
    }
  }
}

}  // namespace

bool InterPodAffinity::AppendPremises(const CycleContext& c, framework::PluginState* plugin_state,
                                      std::vector<int64_t>* out) const {
  auto& state = static_cast<State&>(*plugin_state);
  if (state.compiled->many) return false;
  state.scores = CountScores(c, state);
  out->push_back(state.scores.Ok());
  if (!state.filters && !state.scores.Ok()) return true;
  out->push_back(static_cast<int64_t>(c.cluster.Topology().Generation()));
  out->push_back(static_cast<int64_t>(state.compiled->namespaces_generation));
  if (state.filters) {
    for (const auto* tables : {&state.existing, &state.anti_affinity, &state.affinity}) {
      AppendColumns(*tables, out);
    }
  }
  if (state.scores.Ok()) AppendColumns(state.score, out);
  return true;
}

void InterPodAffinity::AppendTraits(const CycleContext&, const framework::PluginState* plugin_state,
                                    NodeIndex n, std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  if (state.filters) {
    for (const auto* tables : {&state.existing, &state.anti_affinity, &state.affinity}) {
      AppendDomains(
          *tables, n, [](int32_t count) { return int64_t{count > 0}; }, out);
    }
  }
  if (state.scores.Ok())
    AppendDomains(
        state.score, n, [](int64_t weight) { return weight; }, out);
}

void InterPodAffinity::AppendLabels(const CycleContext&, const framework::PluginState* plugin_state,
                                    std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  const auto append = [&](const auto& tables) {
    for (const auto& table : tables) {
      out->push_back(reinterpret_cast<intptr_t>(&table.Column()));
      table.AppendParts(out);
    }
    out->push_back(0);
  };
  out->push_back((state.filters ? 1 : 0) + (state.scores.Ok() ? 2 : 0));
  if (state.filters) {
    for (const auto* tables : {&state.existing, &state.anti_affinity, &state.affinity}) {
      append(*tables);
    }
  }
  if (state.scores.Ok()) append(state.score);
}

Status InterPodAffinity::PreScoreAlike(const CycleContext&, framework::PluginState* state,
                                       std::span<const framework::AlikeNodes>) const {
  return static_cast<const State*>(state)->scores;
}

void InterPodAffinity::NormalizeAlike(const CycleContext&, const framework::PluginState*,
                                      std::span<const framework::AlikeNodes>,
                                      std::span<int64_t> scores) const {
  const auto [smallest, largest] = std::minmax_element(scores.begin(), scores.end());
  const int64_t least = *smallest;
  const int64_t spread = WrapSub(*largest, least);
  for (int64_t& score : scores) score = spread <= 0 ? 0 : Normalized(score, least, spread);
}

}  // namespace berth::plugins::inter_pod_affinity

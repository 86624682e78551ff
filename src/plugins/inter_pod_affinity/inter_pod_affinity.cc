#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/wrap.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/domain_counts.h"
#include "plugins/common/score_memo.h"

namespace berth::plugins::inter_pod_affinity {

using cluster::CounterHandle;
using cluster::LabelColumn;
using cluster::OwnTerm;
using cluster::PodPredicate;
using cluster::TermKind;
using framework::CycleContext;
using framework::NodeIndex;
using framework::Status;

namespace {

enum Reason : uint32_t { kAffinity, kAntiAffinity, kExistingAntiAffinity };

const api::StringMap kNoLabels;

const api::StringMap& NamespaceLabels(const cluster::Cluster& cluster, const std::string& name) {
  const api::Namespace* object = cluster.Objects().namespaces.Find(name);
  return object != nullptr ? object->metadata.labels : kNoLabels;
}

// Which pods a term of the incoming pod speaks about. A namespace selector stands for the
// namespaces it selects now; with the quirk it is also held against no labels at all, so one that a
// namespace without labels would satisfy selects every namespace.
PodPredicate::Part PartOf(const cluster::Cluster& cluster, const cluster::AffinityTerm& term,
                          bool selector_quirk) {
  PodPredicate::Part part;
  part.selector = term.selector;
  part.all_namespaces = selector_quirk && term.namespace_selector.Matches(kNoLabels);
  if (part.all_namespaces) return part;
  part.namespaces = term.namespaces;
  if (!term.namespace_selector.MatchesNothing()) {
    cluster.Objects().namespaces.ForEach([&](const api::Namespace& object) {
      if (term.namespace_selector.Matches(object.metadata.labels)) {
        part.namespaces.push_back(object.metadata.name);
      }
    });
    std::sort(part.namespaces.begin(), part.namespaces.end());
    part.namespaces.erase(std::unique(part.namespaces.begin(), part.namespaces.end()),
                          part.namespaces.end());
  }
  return part;
}

// Pods of the counter on nodes that have the label.
int64_t Labelled(const cluster::PodCounter& counter, const cluster::IndexCounts& domains) {
  return counter.Total() - domains.Get(LabelColumn::kAbsent);
}

}  // namespace

// A term of the incoming pod, counted by itself.
struct InterPodAffinity::CountedTerm {
  PodPredicate predicate;
  const LabelColumn* column;
  int64_t weight;
  CounterHandle handle;
};

// What is derived from a pod's shape.
struct InterPodAffinity::Compiled {
  // With the pod's own spec, all that the terms are made from.
  uint64_t namespaces_generation = 0;
  std::string error;
  bool has_preferred = false;  // as written, parsed or not

  // Required affinity: one pod must match all terms, so they are one predicate.
  PodPredicate affinity;
  CounterHandle affinity_handle;
  std::vector<const LabelColumn*> affinity_columns;  // distinct
  bool matches_itself = false;

  std::vector<CountedTerm> anti_affinity;
  std::vector<CountedTerm> preferred;

  // Terms of placed pods that speak about this shape.
  uint64_t terms_seen = 0;
  std::vector<CounterHandle> repelling;  // required anti-affinity
  std::vector<CounterHandle> scoring;    // all others
};

struct InterPodAffinity::State final : framework::PluginState {
  Compiled* compiled = nullptr;
  // Filter: pods by domain.
  DomainTable<int32_t> existing;  // required anti-affinity of placed pods that matches the pod
  DomainTable<int32_t> anti_affinity;
  DomainTable<int32_t> affinity;  // one per key, in the order of affinity_columns
  int64_t existing_total = 0;
  int64_t affinity_total = 0;
  // Score: weights by domain.
  DomainTable<int64_t> score;
  // For classes of pods: is there anything to filter or score by?
  bool filters = false;
  Status scores;
};

InterPodAffinity::InterPodAffinity(const config::InterPodAffinityArgs& args,
                                   const config::Behaviour& behaviour)
    : args_(args), behaviour_(behaviour) {}
InterPodAffinity::~InterPodAffinity() = default;

std::unique_ptr<framework::PluginState> InterPodAffinity::NewState() const {
  return std::make_unique<State>();
}

// --- Once per shape

InterPodAffinity::Compiled InterPodAffinity::Compile(const cluster::Cluster& cluster,
                                                     const cluster::PodShape& shape) const {
  Compiled compiled;
  compiled.namespaces_generation = cluster.Objects().namespaces.Generation();
  const auto& affinity = shape.source.spec.affinity;
  if (!affinity) return compiled;
  const auto has_preferred = [](const auto& part) {
    return part && !part->preferred_during_scheduling_ignored_during_execution.empty();
  };
  compiled.has_preferred =
      has_preferred(affinity->pod_affinity) || has_preferred(affinity->pod_anti_affinity);

  cluster::OwnTerms own = cluster::CompileOwnTerms(shape, cluster.Strings());
  compiled.error = std::move(own.error);
  for (const OwnTerm& term : own.terms) {
    const LabelColumn* column = &cluster.Labels(term.term.topology_key);
    PodPredicate::Part part = PartOf(cluster, term.term, behaviour_.namespace_selector_quirk);
    if (term.kind == TermKind::kRequiredAffinity) {
      compiled.affinity.parts.push_back(std::move(part));
      auto& columns = compiled.affinity_columns;
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
        columns.push_back(column);
      }
      continue;
    }
    CountedTerm counted{{}, column, term.weight, {}};
    counted.predicate.parts.push_back(std::move(part));
    if (term.kind == TermKind::kRequiredAntiAffinity) {
      compiled.anti_affinity.push_back(std::move(counted));
      continue;
    }
    // Weights are 32 bits wide there, and turn around as such.
    if (term.kind == TermKind::kPreferredAntiAffinity) {
      counted.weight = static_cast<int32_t>(-counted.weight);
    }
    compiled.preferred.push_back(std::move(counted));
  }
  compiled.matches_itself = compiled.affinity.Matches(shape);
  return compiled;
}

// Asks the terms that appeared since the last time, and forgets those that are gone.
void InterPodAffinity::FindTermsOfOthers(const cluster::Cluster& cluster,
                                         const cluster::PodShape& shape, Compiled& compiled) {
  cluster::TopologyCounters& topology = cluster.Topology();
  const uint64_t seen = compiled.terms_seen;
  if (topology.LastTerm() == seen) return;
  const api::StringMap* labels = nullptr;
  compiled.terms_seen = topology.ForEachTerm(
      shape.namespace_, seen, [&](const CounterHandle& handle, const OwnTerm& own) {
        if (labels == nullptr) labels = &NamespaceLabels(cluster, shape.namespace_);
        if (!own.term.Matches(shape, *labels)) return;
        const bool repels = own.kind == TermKind::kRequiredAntiAffinity;
        (repels ? compiled.repelling : compiled.scoring).push_back(handle);
      });
  const auto is_gone = [&](const CounterHandle& handle) {
    return topology.FindTerm(handle) == nullptr;
  };
  const auto by_age = [](const CounterHandle& a, const CounterHandle& b) {
    return a.serial < b.serial;
  };
  for (auto* terms : {&compiled.repelling, &compiled.scoring}) {
    std::erase_if(*terms, is_gone);
    // So that it does not matter when a shape has met them.
    std::sort(terms->begin(), terms->end(), by_age);
  }
}

void InterPodAffinity::BeginCycle(const CycleContext& c,
                                  framework::PluginState* plugin_state) const {
  auto& state = static_cast<State&>(*plugin_state);
  const auto compile = [&](const cluster::PodShape& shape) { return Compile(c.cluster, shape); };
  Compiled& compiled = compiled_.Get(c.shape, compile);
  if (compiled.namespaces_generation != c.cluster.Objects().namespaces.Generation()) {
    compiled = Compile(c.cluster, c.shape);
  }
  FindTermsOfOthers(c.cluster, c.shape, compiled);
  state.compiled = &compiled;
  state.filters = false;
}

// --- Filter

void InterPodAffinity::CountExisting(const CycleContext& c, State& state) {
  cluster::TopologyCounters& topology = c.cluster.Topology();
  state.existing.Clear();
  state.existing_total = 0;
  for (const CounterHandle& handle : state.compiled->repelling) {
    cluster::PlacedTerm* term = topology.FindTerm(handle);
    if (term == nullptr || term->counter.Total() == 0) continue;
    const LabelColumn& column = c.cluster.Labels(term->own.term.topology_key);
    const cluster::IndexCounts& domains = topology.Domains(term->counter, column);
    state.existing.Planned(column).Plan(domains, {handle, true}, 1);
    state.existing_total += Labelled(term->counter, domains);
  }
  state.existing.Settle(c.cluster);
}

void InterPodAffinity::CountIncoming(const CycleContext& c, State& state) {
  cluster::TopologyCounters& topology = c.cluster.Topology();
  Compiled& compiled = *state.compiled;
  state.affinity.Clear();
  state.affinity_total = 0;
  if (!compiled.affinity.parts.empty()) {
    cluster::PodCounter& counter = topology.Use(compiled.affinity, compiled.affinity_handle);
    for (const LabelColumn* column : compiled.affinity_columns) {
      const cluster::IndexCounts& domains = topology.Domains(counter, *column);
      state.affinity.Planned(*column).Plan(domains, {compiled.affinity_handle, false}, 1);
      state.affinity_total += Labelled(counter, domains);
    }
  }
  state.affinity.Settle(c.cluster);
  state.anti_affinity.Clear();
  for (CountedTerm& term : compiled.anti_affinity) {
    cluster::PodCounter& counter = topology.Use(term.predicate, term.handle);
    if (counter.Total() == 0) continue;
    const cluster::IndexCounts& domains = topology.Domains(counter, *term.column);
    state.anti_affinity.Planned(*term.column).Plan(domains, {term.handle, false}, 1);
  }
  state.anti_affinity.Settle(c.cluster);
}

Status InterPodAffinity::PreFilter(const CycleContext& c, framework::PluginState* plugin_state,
                                   framework::PreFilterResult*) const {
  auto& state = static_cast<State&>(*plugin_state);
  const Compiled& compiled = *state.compiled;
  if (!compiled.error.empty()) return Status::Unresolvable("parsing pod: " + compiled.error);
  CountExisting(c, state);
  CountIncoming(c, state);
  state.filters = state.existing_total != 0 || !compiled.affinity.parts.empty() ||
                  !compiled.anti_affinity.empty();
  return state.filters ? Status() : Status::Skip();
}

void InterPodAffinity::ChangePod(const CycleContext& c, State& state, const cluster::Pod& pod,
                                 NodeIndex node, int32_t delta) {
  const Compiled& compiled = *state.compiled;
  if (!compiled.error.empty()) return;
  const api::StringMap& labels = NamespaceLabels(c.cluster, c.shape.namespace_);
  for (const OwnTerm& own : c.cluster.Topology().TermsOf(*pod.shape)) {
    if (own.kind != TermKind::kRequiredAntiAffinity || !own.term.Matches(c.shape, labels)) continue;
    const LabelColumn& column = c.cluster.Labels(own.term.topology_key);
    state.existing.For(column).Add(column.codes[node], delta);
  }
  if (compiled.affinity.Matches(*pod.shape)) {
    for (const LabelColumn* column : compiled.affinity_columns) {
      if (column->codes[node] == LabelColumn::kAbsent) continue;
      state.affinity.For(*column).Add(column->codes[node], delta);
      state.affinity_total += delta;
    }
  }
  for (const CountedTerm& term : compiled.anti_affinity) {
    if (!term.predicate.Matches(*pod.shape)) continue;
    state.anti_affinity.For(*term.column).Add(term.column->codes[node], delta);
  }
}

Status InterPodAffinity::AddPod(const CycleContext& c, framework::PluginState* state,
                                const cluster::Pod& pod, NodeIndex node) const {
  ChangePod(c, static_cast<State&>(*state), pod, node, +1);
  return {};
}

Status InterPodAffinity::RemovePod(const CycleContext& c, framework::PluginState* state,
                                   const cluster::Pod& pod, NodeIndex node) const {
  ChangePod(c, static_cast<State&>(*state), pod, node, -1);
  return {};
}

namespace {

// The nodes of word `w` for which `test(code, count)` holds in some table.
template <class Test>
uint64_t NodesWhere(const DomainTable<int32_t>& tables, size_t w, Test&& test) {
  uint64_t found = 0;
  for (const DomainCounts<int32_t>& table : tables) {
    const uint32_t* codes = table.Column().codes.data() + w * framework::NodeSet::kWordBits;
    const int32_t* counts = table.Data();
    for (size_t b = 0; b < framework::NodeSet::kWordBits; ++b) {
      found |= uint64_t{test(codes[b], counts[codes[b]])} << b;
    }
  }
  return found;
}

}  // namespace

void InterPodAffinity::Filter(const CycleContext&, const framework::PluginState* plugin_state,
                              framework::FilterBatch& batch) const {
  using framework::Code;
  const auto& state = static_cast<const State&>(*plugin_state);
  const auto lacks_label = [](uint32_t code, int32_t) { return code == LabelColumn::kAbsent; };
  const auto no_pod = [](uint32_t, int32_t count) { return count <= 0; };
  const auto some_pod = [](uint32_t, int32_t count) { return count > 0; };
  // The first pod of a group that wants to be together has nobody to be near to but itself: then
  // only the labels must be there. Otherwise a node without the label has no pod near it.
  const bool first = state.affinity_total == 0 && state.compiled->matches_itself;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) == 0) continue;
    const uint64_t lonely =
        first ? NodesWhere(state.affinity, w, lacks_label) : NodesWhere(state.affinity, w, no_pod);
    batch.RejectWord(w, lonely, Code::kUnschedulableAndUnresolvable, kAffinity);
    batch.RejectWord(w, NodesWhere(state.anti_affinity, w, some_pod), Code::kUnschedulable,
                     kAntiAffinity);
    batch.RejectWord(w, NodesWhere(state.existing, w, some_pod), Code::kUnschedulable,
                     kExistingAntiAffinity);
  }
}

void InterPodAffinity::Reasons(const CycleContext&, const framework::PluginState*,
                               const framework::Verdict& verdict,
                               std::vector<std::string>* out) const {
  switch (static_cast<Reason>(verdict.reason)) {
    case kAffinity:
      out->emplace_back(kAffinityReason);
      return;
    case kAntiAffinity:
      out->emplace_back(kAntiAffinityReason);
      return;
    case kExistingAntiAffinity:
      out->emplace_back(kExistingAntiAffinityReason);
      return;
  }
}

// --- Score

// What a pod with this term adds to the score of its domain.
int64_t InterPodAffinity::WeightOf(const OwnTerm& own) const {
  switch (own.kind) {
    case TermKind::kRequiredAffinity:
      return args_.hard_pod_affinity_weight;
    case TermKind::kRequiredAntiAffinity:
      return 0;
    case TermKind::kPreferredAffinity:
      return own.weight;
    case TermKind::kPreferredAntiAffinity:
      return static_cast<int32_t>(-int64_t{own.weight});
  }
  return 0;
}

Status InterPodAffinity::PreScore(const CycleContext& c, framework::PluginState* state,
                                  const framework::NodeSet&) const {
  return CountScores(c, static_cast<State&>(*state));
}

Status InterPodAffinity::CountScores(const CycleContext& c, State& state) const {
  Compiled& compiled = *state.compiled;
  if (args_.ignore_preferred_terms_of_existing_pods && !compiled.has_preferred) {
    return Status::Skip();
  }
  if (!compiled.error.empty()) return Status::Error("failed to parse pod: " + compiled.error);
  cluster::TopologyCounters& topology = c.cluster.Topology();
  state.score.Clear();
  int64_t pods = 0;
  const auto add = [&](cluster::PodCounter& counter, const CountsName& name,
                       const LabelColumn& column, int64_t weight) {
    if (counter.Total() == 0) return;
    const cluster::IndexCounts& domains = topology.Domains(counter, column);
    state.score.Planned(column).Plan(domains, name, weight);
    pods += Labelled(counter, domains);
  };
  for (CountedTerm& term : compiled.preferred) {
    cluster::PodCounter& counter = topology.Use(term.predicate, term.handle);
    add(counter, {term.handle, false}, *term.column, term.weight);
  }
  for (const CounterHandle& handle : compiled.scoring) {
    cluster::PlacedTerm* term = topology.FindTerm(handle);
    if (term == nullptr) continue;
    const bool required = term->own.kind == TermKind::kRequiredAffinity;
    if (required && args_.hard_pod_affinity_weight <= 0) continue;
    add(term->counter, {handle, true}, c.cluster.Labels(term->own.term.topology_key),
        WeightOf(term->own));
  }
  state.score.Settle(c.cluster);
  return pods == 0 ? Status::Skip() : Status();
}

void InterPodAffinity::Score(const CycleContext&, const framework::PluginState* plugin_state,
                             framework::ScoreBatch& batch) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  int64_t* scores = batch.Scores();
  bool first = true;
  for (const DomainCounts<int64_t>& counts : state.score) {
    const uint32_t* codes = counts.Column().codes.data();
    const int64_t* weights = counts.Data();
    for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
      if (batch.Word(w) == 0) continue;
      const size_t begin = w * framework::NodeSet::kWordBits;
      const size_t end = begin + framework::NodeSet::kWordBits;
      for (size_t n = begin; n < end; ++n) {
        scores[n] = WrapAdd(first ? 0 : scores[n], weights[codes[n]]);
      }
    }
    first = false;
  }
}

namespace {

int64_t Normalized(int64_t score, int64_t smallest, int64_t spread) {
  const double share = static_cast<double>(WrapSub(score, smallest)) / static_cast<double>(spread);
  return TruncToInt64(static_cast<double>(framework::kMaxNodeScore) * share);
}

}  // namespace

void InterPodAffinity::Normalize(const CycleContext&, const framework::PluginState*,
                                 const framework::NodeSet& feasible,
                                 framework::ScoreColumn& column) const {
  if (column.IsUniform()) {
    column.SetUniform(0);
    return;
  }
  int64_t* scores = column.Dense();
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t largest = std::numeric_limits<int64_t>::min();
  ForEachNode(feasible, [&](NodeIndex n) {
    smallest = std::min(smallest, scores[n]);
    largest = std::max(largest, scores[n]);
  });
  const int64_t spread = WrapSub(largest, smallest);
  if (spread <= 0) {
    column.SetUniform(0);
    return;
  }
  ScoreMemo memo;
  ForEachNode(feasible, [&](NodeIndex n) {
    scores[n] =
        memo.Get(scores[n], [&](int64_t score) { return Normalized(score, smallest, spread); });
  });
}

// --- Classes of pods

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

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::InterPodAffinityArgs>(&args);
  return std::make_unique<InterPodAffinity>(own != nullptr ? *own : config::InterPodAffinityArgs(),
                                            handle.behaviour);
}

}  // namespace berth::plugins::inter_pod_affinity

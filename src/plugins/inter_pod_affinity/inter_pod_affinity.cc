#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/wrap.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/score_memo.h"
#include "plugins/inter_pod_affinity/state.h"

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

// With the quirk, a namespace selector that a namespace without labels would satisfy selects every
// namespace.
bool SelectsEveryNamespace(const cluster::AffinityTerm& term, bool selector_quirk) {
  return selector_quirk && term.namespace_selector.Matches(kNoLabels);
}

// Which pods a term of the incoming pod speaks about. A namespace selector stands for the
// namespaces it selects now; with the quirk it is also held against no labels at all, so one that a
// namespace without labels would satisfy selects every namespace.
PodPredicate::Part PartOf(const cluster::Cluster& cluster, const cluster::AffinityTerm& term,
                          bool selector_quirk) {
  PodPredicate::Part part;
  part.selector = term.selector;
  part.all_namespaces = SelectsEveryNamespace(term, selector_quirk);
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

InterPodAffinity::InterPodAffinity(const config::InterPodAffinityArgs& args,
                                   const config::Behaviour& behaviour)
    : args_(args),
      behaviour_(behaviour),
      node_keys_(std::make_unique<NodeLabelKeys>()),
      absent_(std::make_unique<LabelColumn>()) {}
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
    compiled.has_affinity |= term.kind == TermKind::kRequiredAffinity;
    compiled.has_anti_affinity |= term.kind == TermKind::kRequiredAntiAffinity;
  }
  if (own.terms.size() > kManyTerms) {
    CompileMany(cluster, own, compiled);
    compiled.matches_itself = compiled.many->affinity.MatchesAll(cluster, shape);
    return compiled;
  }
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

// Terms whose key no node has match nothing; of required affinity they keep all nodes away.
void InterPodAffinity::CompileMany(const cluster::Cluster& cluster, const cluster::OwnTerms& own,
                                   Compiled& compiled) const {
  compiled.many = std::make_unique<Compiled::Many>();
  Compiled::Many& many = *compiled.many;
  many.nodes_seen = cluster.Topology().Generation();
  for (const OwnTerm& term : own.terms) {
    const cluster::StringId key = term.term.topology_key;
    const bool is_known = node_keys_->Contains(cluster, key);
    const LabelColumn& column = is_known ? cluster.Labels(key) : *absent_;
    const bool everywhere = SelectsEveryNamespace(term.term, behaviour_.namespace_selector_quirk);
    switch (term.kind) {
      case TermKind::kRequiredAffinity:
        many.affinity.Add(term.term, everywhere, column, 1);
        break;
      case TermKind::kRequiredAntiAffinity:
        if (is_known) many.anti_affinity.Add(term.term, everywhere, column, 1);
        break;
      case TermKind::kPreferredAffinity:
      case TermKind::kPreferredAntiAffinity:
        if (is_known) many.preferred.Add(term.term, everywhere, column, WeightOf(term));
        break;
    }
  }
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
  if (compiled.namespaces_generation != c.cluster.Objects().namespaces.Generation() ||
      (compiled.many && compiled.many->nodes_seen != c.cluster.Topology().Generation())) {
    compiled = Compile(c.cluster, c.shape);
  }
  // As long as any column.
  if (compiled.many) absent_->codes.resize(c.cluster.PodCount().size(), LabelColumn::kAbsent);
  FindTermsOfOthers(c.cluster, c.shape, compiled);
  state.compiled = &compiled;
  state.filters = false;
}

// --- Filter

// Terms of placed pods whose key no node has are left out where there are very many: each key would
// get a column.
bool InterPodAffinity::IsIdle(const cluster::Cluster& cluster, const Compiled& compiled,
                              const cluster::PlacedTerm* term) const {
  if (term == nullptr || term->counter.Total() == 0) return true;
  return compiled.repelling.size() + compiled.scoring.size() > kManyTerms &&
         !node_keys_->Contains(cluster, term->own.term.topology_key);
}

void InterPodAffinity::CountExisting(const CycleContext& c, State& state) const {
  cluster::TopologyCounters& topology = c.cluster.Topology();
  state.existing.Clear();
  state.existing_total = 0;
  for (const CounterHandle& handle : state.compiled->repelling) {
    cluster::PlacedTerm* term = topology.FindTerm(handle);
    if (IsIdle(c.cluster, *state.compiled, term)) continue;
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
  if (compiled.many) {
    state.anti_affinity.Clear();
    state.affinity_total = compiled.many->affinity.Count(c.cluster, &state.affinity);
    compiled.many->anti_affinity.Count(c.cluster, &state.anti_affinity);
    return;
  }
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
  state.filters = state.existing_total != 0 || compiled.has_affinity || compiled.has_anti_affinity;
  return state.filters ? Status() : Status::Skip();
}

namespace {

// Returns how many keys of the node were concerned.
int64_t ChangeMany(const cluster::Cluster& cluster, ManyTerms& terms, const cluster::Pod& pod,
                   NodeIndex node, int32_t delta, DomainTable<int32_t>& table) {
  int64_t found = 0;
  for (const ManyTerms::Share& share : terms.Of(cluster, *pod.shape)) {
    const LabelColumn& column = *terms.Columns()[share.column];
    if (column.codes[node] == LabelColumn::kAbsent) continue;
    table.For(column).Add(column.codes[node], delta * static_cast<int32_t>(share.weight));
    ++found;
  }
  return found;
}

}  // namespace

void InterPodAffinity::ChangePod(const CycleContext& c, State& state, const cluster::Pod& pod,
                                 NodeIndex node, int32_t delta) {
  Compiled& compiled = *state.compiled;
  if (!compiled.error.empty()) return;
  const api::StringMap& labels = NamespaceLabels(c.cluster, c.shape.namespace_);
  for (const OwnTerm& own : c.cluster.Topology().TermsOf(*pod.shape)) {
    if (own.kind != TermKind::kRequiredAntiAffinity || !own.term.Matches(c.shape, labels)) continue;
    const LabelColumn& column = c.cluster.Labels(own.term.topology_key);
    state.existing.For(column).Add(column.codes[node], delta);
  }
  if (compiled.many) {
    state.affinity_total +=
        delta * ChangeMany(c.cluster, compiled.many->affinity, pod, node, delta, state.affinity);
    ChangeMany(c.cluster, compiled.many->anti_affinity, pod, node, delta, state.anti_affinity);
    return;
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
    if (IsIdle(c.cluster, compiled, term)) continue;
    const bool required = term->own.kind == TermKind::kRequiredAffinity;
    if (required && args_.hard_pod_affinity_weight <= 0) continue;
    add(term->counter, {handle, true}, c.cluster.Labels(term->own.term.topology_key),
        WeightOf(term->own));
  }
  state.score.Settle(c.cluster);
  if (compiled.many) pods += compiled.many->preferred.Count(c.cluster, &state.score);
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

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::InterPodAffinityArgs>(&args);
  return std::make_unique<InterPodAffinity>(own != nullptr ? *own : config::InterPodAffinityArgs(),
                                            handle.behaviour);
}

}  // namespace berth::plugins::inter_pod_affinity

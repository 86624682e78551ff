#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "base/wrap.h"
#include "plugins/common/score_memo.h"
#include "plugins/pod_topology_spread/state.h"

namespace berth::plugins::pod_topology_spread {

using cluster::LabelColumn;
using framework::CycleContext;
using framework::NodeIndex;
using framework::NodeSet;
using framework::Status;

namespace {

enum Reason : uint32_t { kSkew, kMissingLabel };

// Lists with more constraints are first compared with the labels there are.
constexpr size_t kManyKeys = 64;

cluster::StringId KeyIn(const std::pair<cluster::StringId, cluster::StringId>& label) {
  return label.first;
}
cluster::StringId KeyIn(cluster::StringId key) { return key; }

// Does some node have all `keys`? They are sorted, as labels are.
bool SomeNodeHasAll(const cluster::Cluster& cluster, const std::vector<cluster::StringId>& keys) {
  bool found = false;
  cluster.Nodes().ForEach([&](NodeIndex n) {
    const cluster::NodeLabels& labels = cluster.Record(n).labels;
    if (found || labels.size() < keys.size()) return;
    found = std::includes(labels.begin(), labels.end(), keys.begin(), keys.end(),
                          [](const auto& a, const auto& b) { return KeyIn(a) < KeyIn(b); });
  });
  return found;
}

// Half away from zero, as Go's math.Round. REQUIRES: |x| < 2^62.
int64_t Round(double x) {
  const auto whole = static_cast<int64_t>(x);
  const double rest = x - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

}  // namespace

PodTopologySpread::PodTopologySpread(const config::PodTopologySpreadArgs& args)
    : defaults_(args.default_constraints), system_defaults_(args.defaulting_type == "System") {
  if (system_defaults_) defaults_ = SystemDefaultConstraints();
}

PodTopologySpread::~PodTopologySpread() = default;

std::unique_ptr<framework::PluginState> PodTopologySpread::NewState() const {
  return std::make_unique<State>();
}

// --- Once per shape

namespace {

// What constraints refuse while there are no domains to compare.
std::vector<HopelessConstraint> Refusals(const CycleContext& c,
                                         const std::vector<Constraint>& constraints) {
  std::vector<HopelessConstraint> refusals;
  refusals.reserve(constraints.size());
  for (const Constraint& constraint : constraints) {
    const int64_t self = constraint.selector.Matches(c.shape.source.metadata.labels) ? 1 : 0;
    refusals.push_back({c.cluster.Strings().Find(constraint.topology_key),
                        constraint.min_domains > 0 && constraint.max_skew - self < 0});
  }
  return refusals;
}

}  // namespace

PodTopologySpread::CompiledList PodTopologySpread::CompileList(
    const CycleContext& c, std::string_view action, const api::Selector& default_selector) const {
  const bool hard = action == kDoNotSchedule;
  const auto& own = c.shape.source.spec.topology_spread_constraints;
  const api::StringMap& labels = c.shape.source.metadata.labels;
  CompiledList list;
  list.requires_all_keys = hard || !own.empty() || !system_defaults_;
  auto constraints = ConstraintsOf(own.empty() ? defaults_ : own, labels, action);
  if (!constraints) {
    list.error = (own.empty() ? "setting default " : "obtaining pod's ") +
                 std::string(hard ? "hard" : "soft") +
                 " topology spread constraints: " + constraints.error().Message();
    return list;
  }
  if (own.empty() && !constraints->empty()) {
    if (default_selector.Empty()) return list;
    for (Constraint& constraint : *constraints) constraint.selector = default_selector;
  }

  Eligibility eligibility;
  // Keys that no node has are not even given a number: the pod may be one of many.
  const bool is_long = constraints->size() > kManyKeys;
  if (list.requires_all_keys) {
    for (const Constraint& constraint : *constraints) {
      cluster::Dictionary& strings = c.cluster.Strings();
      eligibility.required_keys.push_back(is_long ? strings.Find(constraint.topology_key)
                                                  : strings.Intern(constraint.topology_key));
    }
    auto& keys = eligibility.required_keys;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  if (is_long && list.requires_all_keys && !SomeNodeHasAll(c.cluster, eligibility.required_keys)) {
    list.hopeless = true;
    list.refusals = Refusals(c, *constraints);
    return list;
  }
  // By policy: constraints that differ in nothing else count the same nodes.
  std::array<std::shared_ptr<CountedNodes>, 4> counted;
  const auto eligible = [&](bool affinity, bool taints) {
    eligibility.honors_node_affinity = affinity;
    eligibility.honors_taints = taints;
    auto& nodes = counted[(affinity ? 2 : 0) + (taints ? 1 : 0)];
    if (nodes == nullptr) nodes = eligible_.Counted(c.cluster, c.shape, eligibility);
    return eligible_.Get(c.cluster, eligibility.own_key, nodes);
  };
  for (Constraint& constraint : *constraints) {
    CompiledConstraint compiled;
    eligibility.own_key = c.cluster.Strings().Intern(constraint.topology_key);
    compiled.column = &c.cluster.Labels(eligibility.own_key);
    compiled.is_hostname = constraint.topology_key == kHostnameKey;
    compiled.matches_itself = constraint.selector.Matches(labels);
    // A selector that restricts nothing counts no pods.
    if (!constraint.selector.Empty()) {
      compiled.predicate.parts.push_back({false, {c.shape.namespace_}, constraint.selector});
    }
    compiled.predicate.count_terminating = false;
    if (!hard) compiled.candidates = eligible(false, false);
    compiled.eligible = eligible(constraint.honors_node_affinity, constraint.honors_taints);
    compiled.constraint = std::move(constraint);
    list.constraints.push_back(std::move(compiled));
  }
  return list;
}

std::shared_ptr<PodTopologySpread::Lists> PodTopologySpread::CompileLists(
    const CycleContext& c, const Compiled& compiled, api::Selector selector) const {
  auto lists = std::make_shared<Lists>();
  lists->generations = compiled.generations;
  lists->nodes_seen = c.cluster.Topology().Generation();
  lists->service_labels = compiled.service_labels;
  lists->selector = std::move(selector);
  lists->hard = CompileList(c, kDoNotSchedule, lists->selector);
  lists->soft = CompileList(c, kScheduleAnyway, lists->selector);
  const auto& own = c.shape.source.spec.topology_spread_constraints;
  for (const auto& constraint : own.empty() ? defaults_ : own) {
    lists->reads_labels = lists->reads_labels || !constraint.match_label_keys.empty();
  }
  return lists;
}

// Pods that no service and no controller selects have no default constraints, whoever they are.
std::shared_ptr<PodTopologySpread::Lists> PodTopologySpread::ListsFor(
    const CycleContext& c, const Compiled& compiled, api::Selector selector) const {
  const bool unselected = compiled.from_defaults && selector.Empty();
  if (unselected && unselected_ != nullptr) return unselected_;
  auto lists = CompileLists(c, compiled, std::move(selector));
  if (unselected && lists->hard.error.empty() && lists->soft.error.empty()) {
    unselected_ = lists;
  } else {
    KeepForKind(c, lists);
  }
  return lists;
}

void PodTopologySpread::KeepForKind(const CycleContext& c,
                                    const std::shared_ptr<Lists>& lists) const {
  constexpr size_t kMaxKinds = 1024;
  if (of_kind_.size() >= kMaxKinds) of_kind_.clear();
  of_kind_.insert_or_assign(c.shape.kind, lists);
}

// What was compiled for another pod of this kind, if it is what would be compiled for this one.
std::shared_ptr<PodTopologySpread::Lists> PodTopologySpread::ListsOfKind(
    const CycleContext& c, const Compiled& compiled) const {
  const auto it = of_kind_.find(c.shape.kind);
  if (it == of_kind_.end()) return nullptr;
  const Lists& lists = *it->second;
  if (lists.reads_labels || lists.Hopeless()) return nullptr;
  if (compiled.from_defaults && (lists.generations != compiled.generations ||
                                 lists.service_labels != compiled.service_labels)) {
    return nullptr;
  }
  for (const CompiledList* list : {&lists.hard, &lists.soft}) {
    for (const CompiledConstraint& constraint : list->constraints) {
      const bool matches = constraint.constraint.selector.Matches(c.shape.source.metadata.labels);
      if (matches != constraint.matches_itself) return nullptr;
    }
  }
  return it->second;
}

PodTopologySpread::Compiled PodTopologySpread::Compile(const CycleContext& c) const {
  Compiled compiled;
  compiled.from_defaults =
      c.shape.source.spec.topology_spread_constraints.empty() && !defaults_.empty();
  const cluster::ObjectStore& objects = c.cluster.Objects();
  if (compiled.from_defaults) {
    compiled.generations = GenerationsOf(objects);
    compiled.service_labels = services_.LabelsFor(c.shape, objects.services);
  }
  compiled.lists = ListsOfKind(c, compiled);
  if (compiled.lists != nullptr) return compiled;
  api::Selector selector;
  if (compiled.from_defaults) selector = DefaultSelector(compiled.service_labels, c.shape, objects);
  compiled.lists = ListsFor(c, compiled, std::move(selector));
  return compiled;
}

// Some service or controller has changed: mostly not one of this pod's, or not its selector.
void PodTopologySpread::UpdateDefaults(const CycleContext& c, Compiled& compiled) const {
  const cluster::ObjectStore& objects = c.cluster.Objects();
  const OwnerGenerations now = GenerationsOf(objects);
  if (compiled.generations == now) return;
  if (compiled.generations[0] != now[0]) {
    compiled.service_labels = services_.LabelsFor(c.shape, objects.services);
  }
  compiled.generations = now;
  api::Selector selector = DefaultSelector(compiled.service_labels, c.shape, objects);
  if (selector != compiled.lists->selector) {
    compiled.lists = ListsFor(c, compiled, std::move(selector));
    return;
  }
  if (compiled.lists == unselected_) return;
  compiled.lists->generations = now;
  compiled.lists->service_labels = compiled.service_labels;
}

void PodTopologySpread::BeginCycle(const CycleContext& c,
                                   framework::PluginState* plugin_state) const {
  auto& state = static_cast<State&>(*plugin_state);
  Compiled& compiled = compiled_.Get(c.shape, [&](const cluster::PodShape&) { return Compile(c); });
  if (compiled.from_defaults) UpdateDefaults(c, compiled);
  const Lists& lists = *compiled.lists;
  if (lists.Hopeless() && lists.nodes_seen != c.cluster.Topology().Generation()) {
    compiled = Compile(c);
  }
  state.compiled = &compiled;
  state.hard_count = 0;
  state.soft_count = 0;
}

// --- Filter

Status PodTopologySpread::PreFilter(const CycleContext& c, framework::PluginState* plugin_state,
                                    framework::PreFilterResult*) const {
  auto& state = static_cast<State&>(*plugin_state);
  CompiledList& list = state.compiled->lists->hard;
  state.hard_count = 0;
  if (!list.error.empty()) return Status::Error("get constraints from pod: " + list.error);
  if (list.hopeless) return {};
  if (list.constraints.empty()) return Status::Skip();
  if (state.hard.size() < list.constraints.size()) state.hard.resize(list.constraints.size());
  state.hard_count = list.constraints.size();
  cluster::TopologyCounters& topology = c.cluster.Topology();
  for (size_t i = 0; i < list.constraints.size(); ++i) {
    CompiledConstraint& constraint = list.constraints[i];
    HardState& hard = state.hard[i];
    hard.constraint = &constraint;
    constraint.eligible->Refresh(c.cluster);
    hard.counts.Reset(*constraint.column);
    if (!constraint.predicate.parts.empty()) {
      cluster::PodCounter& counter = topology.Use(constraint.predicate, constraint.handle);
      hard.counts.AddAll(
          topology.Domains(counter, *constraint.column, constraint.eligible->Mask()));
    }
    hard.FindLeast();
    hard.SetLimit();
  }
  return {};
}

// As in kube-scheduler, pods that are being deleted were not counted, but are subtracted and added
// here; and a selector that restricts nothing, which counted no pods, now matches them all.
void PodTopologySpread::ChangePod(const CycleContext& c, State& state, const cluster::Pod& pod,
                                  NodeIndex node, int32_t delta) {
  if (pod.namespace_() != c.shape.namespace_ || !c.cluster.Nodes().Contains(node)) return;
  for (size_t i = 0; i < state.hard_count; ++i) {
    HardState& hard = state.hard[i];
    const CompiledConstraint& constraint = *hard.constraint;
    if (!constraint.constraint.selector.Matches(pod.shape->source.metadata.labels)) continue;
    if (!constraint.eligible->Contains(node)) continue;
    hard.Change(constraint.column->codes[node], delta);
  }
}

Status PodTopologySpread::AddPod(const CycleContext& c, framework::PluginState* state,
                                 const cluster::Pod& pod, NodeIndex node) const {
  ChangePod(c, static_cast<State&>(*state), pod, node, +1);
  return {};
}

Status PodTopologySpread::RemovePod(const CycleContext& c, framework::PluginState* state,
                                    const cluster::Pod& pod, NodeIndex node) const {
  ChangePod(c, static_cast<State&>(*state), pod, node, -1);
  return {};
}

void PodTopologySpread::FilterHopeless(const CycleContext& c, const CompiledList& list,
                                       framework::FilterBatch& batch) {
  batch.ForEach([&](NodeIndex n) {
    const cluster::NodeLabels& labels = c.cluster.Record(n).labels;
    for (const HopelessConstraint& constraint : list.refusals) {
      if (cluster::LabelValue(labels, constraint.key) == cluster::kNoString) {
        batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable, kMissingLabel);
        return;
      }
      if (constraint.refuses_all) {
        batch.Reject(n, framework::Code::kUnschedulable, kSkew);
        return;
      }
    }
  });
}

void PodTopologySpread::Filter(const CycleContext& c, const framework::PluginState* plugin_state,
                               framework::FilterBatch& batch) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  const CompiledList& list = state.compiled->lists->hard;
  if (list.hopeless) return FilterHopeless(c, list, batch);
  for (size_t i = 0; i < state.hard_count; ++i) {
    const HardState& hard = state.hard[i];
    const uint32_t* codes = hard.constraint->column->codes.data();
    const int32_t* counts = hard.counts.Data();
    for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
      const uint64_t asked = batch.Word(w);
      if (asked == 0) continue;
      const uint32_t* of_word = codes + w * NodeSet::kWordBits;
      uint64_t unlabelled = 0;
      uint64_t crowded = 0;
      const auto look = [&](size_t b) {
        unlabelled |= uint64_t{of_word[b] == LabelColumn::kAbsent} << b;
        crowded |= uint64_t{counts[of_word[b]] > hard.limit} << b;
      };
      if (std::has_single_bit(asked)) {  // a class asks about one node of a cell
        look(static_cast<size_t>(std::countr_zero(asked)));
      } else {
        for (size_t b = 0; b < NodeSet::kWordBits; ++b) look(b);
      }
      batch.RejectWord(w, unlabelled, framework::Code::kUnschedulableAndUnresolvable,
                       kMissingLabel);
      batch.RejectWord(w, crowded, framework::Code::kUnschedulable, kSkew);
    }
  }
}

void PodTopologySpread::Reasons(const CycleContext&, const framework::PluginState*,
                                const framework::Verdict& verdict,
                                std::vector<std::string>* out) const {
  switch (static_cast<Reason>(verdict.reason)) {
    case kSkew:
      out->emplace_back(kSkewReason);
      return;
    case kMissingLabel:
      out->emplace_back(kMissingLabelReason);
      return;
  }
}

// --- Score

namespace {

// How many domains the nodes of `feasible` that are also in `candidates` form.
size_t CountDomains(const NodeSet& feasible, const EligibleNodes& candidates,
                    const LabelColumn& column, std::vector<uint8_t>& seen) {
  const size_t possible = candidates.Domains().size();
  seen.assign(column.values.size(), 0);
  size_t found = 0;
  const auto words = feasible.Words();
  const auto eligible = candidates.Mask()->nodes.Words();
  for (size_t w = 0; w < words.size() && found < possible; ++w) {
    NodeSet::ForEachBit(words[w] & eligible[w], w, [&](NodeIndex n) {
      uint8_t& mark = seen[candidates.DomainOf(column.codes[n])];
      found += mark == 0;
      mark = 1;
    });
  }
  return found;
}

size_t CountCommon(const NodeSet& a, const NodeSet& b) {
  size_t count = 0;
  for (size_t w = 0; w < a.Words().size(); ++w) {
    count += static_cast<size_t>(std::popcount(a.Words()[w] & b.Words()[w]));
  }
  return count;
}

}  // namespace

// Fills in the pods a constraint finds, per domain or per node. `size`: how many domains there are.
// `may_point`: into the counter, which holds as long as no very long list of constraints follows.
void PodTopologySpread::CountSoft(const CycleContext& c, CompiledConstraint& constraint,
                                  size_t size, bool may_point, SoftState& soft) {
  cluster::PodCounter* counter =
      constraint.predicate.parts.empty()
          ? nullptr
          : &c.cluster.Topology().Use(constraint.predicate, constraint.handle);
  BeginSoft(constraint, size, soft);
  if (!constraint.is_hostname) {
    CountSoftDomains(c, constraint, counter, soft);
    return;
  }
  // Pods of the node itself, whatever the policies say.
  const size_t rows = constraint.column->codes.size();
  if (counter != nullptr && counter->Rows().IsDense() && may_point) {
    soft.pods = counter->MutableRows().Dense(rows).data();
    return;
  }
  if (soft.pods_memory.size() < rows) soft.pods_memory.resize(rows);
  soft.pods = soft.pods_memory.data();
  if (counter == nullptr) return;
  counter->Rows().ForEach([&](uint32_t row, int32_t count) {
    soft.pods_memory[row] = count;
    soft.touched.push_back(row);
  });
}

void PodTopologySpread::BeginSoft(const CompiledConstraint& constraint, size_t size,
                                  SoftState& soft) {
  soft.column = constraint.column;
  soft.weight = GoLog(static_cast<int64_t>(size) + 2);
  soft.base = static_cast<double>(static_cast<int32_t>(WrapSub(constraint.constraint.max_skew, 1)));
  for (const uint32_t row : soft.touched) soft.pods_memory[row] = 0;
  soft.touched.clear();
  soft.pods = nullptr;
}

void PodTopologySpread::CountSoftDomains(const CycleContext& c, CompiledConstraint& constraint,
                                         cluster::PodCounter* counter, SoftState& soft) {
  const LabelColumn& column = *constraint.column;
  soft.of_domain.assign(column.values.size(), 0 * soft.weight + soft.base);
  soft.of_domain[LabelColumn::kAbsent] = 0;
  if (counter == nullptr) return;
  const cluster::IndexCounts& domains =
      c.cluster.Topology().Domains(*counter, column, constraint.eligible->Mask());
  domains.ForEach([&](uint32_t code, int32_t count) {
    if (code == LabelColumn::kAbsent) return;
    soft.of_domain[code] = static_cast<double>(count) * soft.weight + soft.base;
  });
  // Nodes without the label are in one domain with those whose label is empty.
  const uint32_t empty = constraint.eligible->EmptyValueCode();
  if (empty != LabelColumn::kAbsent) {
    const int64_t count = int64_t{domains.Get(empty)} + domains.Get(LabelColumn::kAbsent);
    soft.of_domain[empty] = static_cast<double>(count) * soft.weight + soft.base;
  }
}

Status PodTopologySpread::PreScore(const CycleContext& c, framework::PluginState* plugin_state,
                                   const NodeSet& feasible) const {
  auto& state = static_cast<State&>(*plugin_state);
  CompiledList& list = state.compiled->lists->soft;
  state.soft_count = 0;
  if (c.cluster.NodeCount() == 0) return Status::Skip();
  if (!list.error.empty()) return Status::Error("calculating preScoreState: " + list.error);
  if (list.hopeless) {
    if (state.nobody.Capacity() < c.cluster.Rows()) state.nobody.Resize(c.cluster.Rows());
    state.scored = &state.nobody;
    return {};
  }
  if (list.constraints.empty()) return Status::Skip();
  if (state.soft.size() < list.constraints.size()) state.soft.resize(list.constraints.size());
  state.soft_count = list.constraints.size();
  for (CompiledConstraint& constraint : list.constraints) {
    constraint.eligible->Refresh(c.cluster);
    constraint.candidates->Refresh(c.cluster);
  }
  const NodeSet& candidates = list.constraints[0].candidates->Mask()->nodes;
  state.scored = list.requires_all_keys ? &candidates : nullptr;
  size_t size = 0;
  for (size_t i = 0; i < list.constraints.size(); ++i) {
    CompiledConstraint& constraint = list.constraints[i];
    if (i == 0 || constraint.candidates != list.constraints[i - 1].candidates) {
      size = constraint.is_hostname
                 ? CountCommon(feasible, candidates)
                 : CountDomains(feasible, *constraint.candidates, *constraint.column, state.seen);
    }
    CountSoft(c, constraint, size, list.constraints.size() < 1000, state.soft[i]);
  }
  FinishSoft(state);
  return {};
}

void PodTopologySpread::FinishSoft(State& state) {
  SoftState& only = state.soft[0];
  if (state.soft_count != 1 || only.pods != nullptr) return;
  only.rounded.resize(only.of_domain.size());
  std::transform(only.of_domain.begin(), only.of_domain.end(), only.rounded.begin(), Round);
}

namespace {

// Nodes of a word that are scored one by one; with more, all 64 of them are.
constexpr int kFewNodes = 4;

}  // namespace

// The score of one node, constraint by constraint: the order decides the last bit.
double PodTopologySpread::SumOf(const State& state, NodeIndex n) {
  double sum = 0;
  for (size_t i = 0; i < state.soft_count; ++i) {
    const SoftState& soft = state.soft[i];
    const uint32_t code = soft.column->codes[n];
    if (soft.pods == nullptr) {
      sum += soft.of_domain[code];
    } else if (code != LabelColumn::kAbsent) {
      sum += static_cast<double>(soft.pods[n]) * soft.weight + soft.base;
    }
  }
  return sum;
}

// The scores of all nodes of word `w`, constraint by constraint: the order decides the last bit.
void PodTopologySpread::SumUp(const State& state, size_t w, int64_t* scores) {
  constexpr size_t kBits = NodeSet::kWordBits;
  double sums[kBits] = {};
  for (size_t i = 0; i < state.soft_count; ++i) {
    const SoftState& soft = state.soft[i];
    const uint32_t* codes = soft.column->codes.data() + w * kBits;
    if (soft.pods == nullptr) {
      for (size_t b = 0; b < kBits; ++b) sums[b] += soft.of_domain[codes[b]];
      continue;
    }
    const int32_t* pods = soft.pods + w * kBits;
    for (size_t b = 0; b < kBits; ++b) {
      const double part = static_cast<double>(pods[b]) * soft.weight + soft.base;
      sums[b] += codes[b] == LabelColumn::kAbsent ? 0 : part;
    }
  }
  for (size_t b = 0; b < kBits; ++b) scores[b] = Round(sums[b]);
}

void PodTopologySpread::Score(const CycleContext&, const framework::PluginState* plugin_state,
                              framework::ScoreBatch& batch) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  constexpr size_t kBits = NodeSet::kWordBits;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) == 0) continue;
    int64_t* scores = batch.Scores() + w * kBits;
    if (std::popcount(batch.Word(w)) <= kFewNodes) {
      NodeSet::ForEachBit(batch.Word(w), w,
                          [&](NodeIndex n) { batch.Scores()[n] = Round(SumOf(state, n)); });
    } else if (state.soft_count == 1 && state.soft[0].pods == nullptr) {
      const SoftState& soft = state.soft[0];
      const uint32_t* codes = soft.column->codes.data() + w * kBits;
      for (size_t b = 0; b < kBits; ++b) scores[b] = soft.rounded[codes[b]];
    } else {
      SumUp(state, w, scores);
    }
    if (state.scored == nullptr) continue;
    NodeSet::ForEachBit(batch.Word(w) & ~state.scored->Words()[w], w,
                        [&](NodeIndex n) { batch.Scores()[n] = 0; });
  }
}

void PodTopologySpread::Normalize(const CycleContext&, const framework::PluginState* plugin_state,
                                  const NodeSet& feasible, framework::ScoreColumn& column) const {
  const auto& state = static_cast<const State&>(*plugin_state);
  if (column.IsUniform()) return;
  int64_t* scores = column.Dense();
  Extent extent;
  const auto words = feasible.Words();
  for (size_t w = 0; w < words.size(); ++w) {
    const uint64_t scored =
        state.scored == nullptr ? words[w] : words[w] & state.scored->Words()[w];
    ForEachNode(scored, w, [&](NodeIndex n) { extent.Add(scores[n]); });
    NodeSet::ForEachBit(words[w] & ~scored, w, [&](NodeIndex n) { scores[n] = kIgnored; });
  }
  ScoreMemo memo;
  ForEachNode(feasible, [&](NodeIndex n) {
    scores[n] = memo.Get(scores[n], [&](int64_t score) { return extent.Normalized(score); });
  });
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  const auto* own = std::get_if<config::PodTopologySpreadArgs>(&args);
  if (own != nullptr) return std::make_unique<PodTopologySpread>(*own);
  config::PodTopologySpreadArgs defaults;
  defaults.defaulting_type = "System";
  return std::make_unique<PodTopologySpread>(defaults);
}

}  // namespace berth::plugins::pod_topology_spread

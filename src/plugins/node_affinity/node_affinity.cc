#include "plugins/node_affinity/node_affinity.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/runtime/normalize.h"

namespace berth::plugins::node_affinity {
namespace {

// Reason ids of this plugin's verdicts.
constexpr uint32_t kPod = 0;
constexpr uint32_t kEnforced = 1;

// Up to so many, terms look labels up by themselves.
constexpr size_t kFewTerms = 16;

const api::NodeAffinity* NodeAffinityOf(const cluster::PodShape& shape) {
  const auto& affinity = shape.source.spec.affinity;
  return affinity && affinity->node_affinity ? &*affinity->node_affinity : nullptr;
}

// Null, unless `required` says nothing but what a node's name is.
const std::string* NameOfOnlyNode(const api::NodeSelector& required) {
  if (required.node_selector_terms.size() != 1) return nullptr;
  const api::NodeSelectorTerm& term = required.node_selector_terms[0];
  if (!term.match_expressions.empty() || term.match_fields.size() != 1) return nullptr;
  const api::NodeSelectorRequirement& field = term.match_fields[0];
  if (field.key != "metadata.name" || field.operator_ != "In") return nullptr;
  return field.values.size() == 1 ? &field.values[0] : nullptr;
}

std::vector<std::string> SortedUnique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::optional<std::vector<std::string>> NodesNamedBy(const api::NodeSelector& required) {
  std::vector<std::string> all;
  for (const api::NodeSelectorTerm& term : required.node_selector_terms) {
    std::optional<std::vector<std::string>> in_term;
    for (const api::NodeSelectorRequirement& field : term.match_fields) {
      if (field.key != "metadata.name" || field.operator_ != "In") continue;
      std::vector<std::string> named = SortedUnique(field.values);
      if (in_term) {
        std::vector<std::string> both;
        std::set_intersection(in_term->begin(), in_term->end(), named.begin(), named.end(),
                              std::back_inserter(both));
        named = std::move(both);
      }
      in_term = std::move(named);
    }
    if (!in_term) return std::nullopt;
    all.insert(all.end(), in_term->begin(), in_term->end());
  }
  return SortedUnique(std::move(all));
}

struct NodeAffinity::State : framework::PluginState {
  Compiled* compiled = nullptr;
};

Result<std::unique_ptr<NodeAffinity>> NodeAffinity::Make(const config::NodeAffinityArgs& args,
                                                         const cluster::Cluster& cluster) {
  std::unique_ptr<NodeAffinity> plugin(new NodeAffinity());
  if (!args.added_affinity) return plugin;
  const api::NodeAffinity& added = *args.added_affinity;
  if (const auto& required = added.required_during_scheduling_ignored_during_execution) {
    auto matcher = api::NodeSelectorMatcher::Strict(*required);
    if (!matcher) {
      return Fail(matcher.error().In(
          "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"));
    }
    plugin->added_required_.emplace(cluster, *matcher);
    plugin->added_selector_ = std::move(*matcher);
  }
  if (!added.preferred_during_scheduling_ignored_during_execution.empty()) {
    auto preferred = api::PreferredNodeAffinity::Make(
        added.preferred_during_scheduling_ignored_during_execution);
    if (!preferred) {
      return Fail(preferred.error().In(
          "parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"));
    }
    plugin->has_added_preferred_ = true;
    AddPreferred(cluster, *preferred, &plugin->added_preferred_);
  }
  return plugin;
}

void NodeAffinity::AddPreferred(const cluster::Cluster& cluster,
                                const api::PreferredNodeAffinity& terms,
                                std::vector<Weighted>* out) {
  size_t requirements = 0;
  for (const auto& [term, weight] : terms.Terms()) requirements += term.Labels().size();
  for (const auto& [term, weight] : terms.Terms()) {
    out->push_back({CompiledTerm(cluster, term.Labels(), term.Fields(), !term.Errors().empty(),
                                 requirements > kManyRequirements),
                    weight});
  }
}

NodeAffinity::Compiled NodeAffinity::Compile(const cluster::Cluster& cluster,
                                             const cluster::PodShape& shape) {
  Compiled compiled;
  const api::NodeAffinity* affinity = NodeAffinityOf(shape);
  const api::NodeSelector* required = nullptr;
  if (affinity != nullptr && affinity->required_during_scheduling_ignored_during_execution) {
    required = &*affinity->required_during_scheduling_ignored_during_execution;
  }
  const api::StringMap& node_selector = shape.source.spec.node_selector;
  const bool only_terms = required != nullptr && node_selector.empty();
  if (const std::string* name = only_terms ? NameOfOnlyNode(*required) : nullptr) {
    compiled.only_node = cluster.Strings().Intern(*name);
    compiled.named_nodes.emplace(1, *name);
    compiled.named_ids.push_back(compiled.only_node);
  } else if (required != nullptr || !node_selector.empty()) {
    compiled.required.emplace(cluster, api::RequiredNodeAffinity(node_selector, required));
  }
  if (compiled.required && required != nullptr && !required->node_selector_terms.empty()) {
    compiled.named_nodes = NodesNamedBy(*required);
    for (const std::string& name : compiled.named_nodes.value_or(std::vector<std::string>())) {
      compiled.named_ids.push_back(cluster.Strings().Intern(name));
    }
  }
  if (affinity != nullptr &&
      !affinity->preferred_during_scheduling_ignored_during_execution.empty()) {
    compiled.has_preferred = true;
    const auto preferred = api::PreferredNodeAffinity::Make(
        affinity->preferred_during_scheduling_ignored_during_execution);
    if (preferred) {
      AddPreferred(cluster, *preferred, &compiled.preferred);
    } else {
      compiled.preferred_error = preferred.error().Message();
    }
  }
  return compiled;
}

std::unique_ptr<framework::PluginState> NodeAffinity::NewState() const {
  return std::make_unique<State>();
}

void NodeAffinity::BeginCycle(const framework::CycleContext& c,
                              framework::PluginState* state) const {
  const auto compile = [&](const cluster::PodShape& shape) { return Compile(c.cluster, shape); };
  const bool asks = (c.shape.parts & cluster::kHasNodeAffinity) != 0;
  Compiled& compiled = asks ? compiled_.Get(c.shape, compile) : nothing_;
  if (compiled.required) compiled.required->Prepare(c.cluster);
  for (Weighted& preferred : compiled.preferred) preferred.term.Prepare(c.cluster);
  if (added_required_) added_required_->Prepare(c.cluster);
  for (Weighted& preferred : added_preferred_) preferred.term.Prepare(c.cluster);
  static_cast<State*>(state)->compiled = &compiled;
}

framework::Status NodeAffinity::PreFilter(const framework::CycleContext& c,
                                          framework::PluginState* state,
                                          framework::PreFilterResult* result) const {
  const Compiled& compiled = *static_cast<State*>(state)->compiled;
  if (!compiled.Asks() && !added_required_) return framework::Status::Skip();
  if (!compiled.named_nodes) return {};
  if (compiled.named_nodes->empty()) {
    return framework::Status::Unresolvable(std::string(kReasonConflict));
  }
  result->all_nodes = false;
  result->node_names = *compiled.named_nodes;
  for (const cluster::StringId name : compiled.named_ids) {
    const cluster::NodeIndex n = c.cluster.FindNode(name);
    if (n != cluster::kNoNode) result->nodes.push_back(n);
  }
  return {};
}

void NodeAffinity::Filter(const framework::CycleContext& c, const framework::PluginState* state,
                          framework::FilterBatch& batch) const {
  const Compiled& compiled = *static_cast<const State*>(state)->compiled;
  batch.ForEach([&](cluster::NodeIndex n) {
    if (added_required_ && !added_required_->Matches(c.cluster, n)) {
      batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable, kEnforced);
    } else if (compiled.Asks() && !compiled.Matches(c.cluster, n)) {
      batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable, kPod);
    }
  });
}

framework::Status NodeAffinity::PreScore(const framework::CycleContext&,
                                         framework::PluginState* state,
                                         const framework::NodeSet&) const {
  const Compiled& compiled = *static_cast<State*>(state)->compiled;
  if (!compiled.preferred_error.empty()) {
    return framework::Status::Error(compiled.preferred_error);
  }
  if (!compiled.has_preferred && !has_added_preferred_) return framework::Status::Skip();
  return {};
}

void NodeAffinity::Score(const framework::CycleContext& c, const framework::PluginState* state,
                         framework::ScoreBatch& batch) const {
  const Compiled& compiled = *static_cast<const State*>(state)->compiled;
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) {
    int64_t sum = 0;
    for (const Weighted& preferred : added_preferred_) {
      if (preferred.term.Matches(c.cluster, n)) sum += preferred.weight;
    }
    if (compiled.preferred.size() <= kFewTerms) {
      for (const Weighted& preferred : compiled.preferred) {
        if (preferred.term.Matches(c.cluster, n)) sum += preferred.weight;
      }
    } else {
      NodeLabelReader labels(c.cluster, n);
      for (const Weighted& preferred : compiled.preferred) {
        if (preferred.term.Matches(c.cluster, n, labels)) sum += preferred.weight;
      }
    }
    scores[n] = sum;
  });
}

void NodeAffinity::Normalize(const framework::CycleContext&, const framework::PluginState*,
                             const framework::NodeSet& feasible,
                             framework::ScoreColumn& column) const {
  framework::DefaultNormalize(feasible, /*reverse=*/false, column);
}

void NodeAffinity::Reasons(const framework::CycleContext&, const framework::PluginState*,
                           const framework::Verdict& verdict, std::vector<std::string>* out) const {
  out->emplace_back(verdict.reason == kEnforced ? kReasonEnforced : kReasonPod);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::NodeAffinityArgs>(&args);
  auto plugin = NodeAffinity::Make(own ? *own : config::NodeAffinityArgs(), handle.cluster);
  if (!plugin) return Fail(plugin.error());
  return std::unique_ptr<framework::Plugin>(std::move(*plugin));
}

}  // namespace berth::plugins::node_affinity

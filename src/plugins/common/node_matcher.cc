#include "plugins/common/node_matcher.h"

#include <algorithm>

namespace berth::plugins {

CompiledTerm::CompiledTerm(const cluster::Cluster& cluster,
                           const std::vector<api::Requirement>& labels,
                           const std::vector<api::FieldRequirement>& fields, bool never)
    : never_(never) {
  for (const api::Requirement& requirement : labels) {
    const cluster::StringId key = cluster.Strings().Intern(requirement.Key());
    labels_.push_back({requirement, &cluster.Labels(key), {}});
  }
  for (const api::FieldRequirement& field : fields) {
    if (field.is_name) {
      names_.push_back({cluster.Strings().Intern(field.value), field.equal});
    } else {
      // No node has any other field, so that the node does not matter.
      never_ = never_ || !field.Matches({});
    }
  }
}

void CompiledTerm::Prepare(const cluster::Cluster& cluster) {
  for (LabelTest& test : labels_) {
    const auto& values = test.column->values;
    while (test.if_code.size() < values.size()) {
      const size_t code = test.if_code.size();
      const std::string* text =
          code == cluster::LabelColumn::kAbsent ? nullptr : &cluster.Strings().Text(values[code]);
      test.if_code.push_back(test.requirement.MatchesValue(text));
    }
  }
}

bool CompiledTerm::Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  if (never_) return false;
  for (const LabelTest& test : labels_) {
    if (test.if_code[test.column->codes[n]] == 0) return false;
  }
  const cluster::StringId name = cluster.Record(n).name;
  return std::all_of(names_.begin(), names_.end(),
                     [&](const NameTest& test) { return (test.name == name) == test.equal; });
}

NodeMatcher::NodeMatcher(const cluster::Cluster& cluster, const api::RequiredNodeAffinity& required)
    : node_selector_(cluster, required.NodeLabels().Requirements(), {},
                     required.NodeLabels().MatchesNothing()) {
  if (required.Required()) AddTerms(cluster, *required.Required());
}

NodeMatcher::NodeMatcher(const cluster::Cluster& cluster, const api::NodeSelectorMatcher& selector)
    : node_selector_(cluster, {}, {}, false) {
  AddTerms(cluster, selector);
}

void NodeMatcher::AddTerms(const cluster::Cluster& cluster,
                           const api::NodeSelectorMatcher& selector) {
  has_terms_ = true;
  for (const api::NodeTerm& term : selector.Terms()) {
    terms_.emplace_back(cluster, term.Labels(), term.Fields(), !term.Errors().empty());
  }
}

void NodeMatcher::Prepare(const cluster::Cluster& cluster) {
  node_selector_.Prepare(cluster);
  for (CompiledTerm& term : terms_) term.Prepare(cluster);
}

bool NodeMatcher::Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  if (!node_selector_.Matches(cluster, n)) return false;
  if (!has_terms_) return true;
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const CompiledTerm& term) { return term.Matches(cluster, n); });
}

}  // namespace berth::plugins

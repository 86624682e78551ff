#include "plugins/common/node_matcher.h"

#include <algorithm>

#include "api/go/go_int.h"

namespace berth::plugins {
namespace {

size_t CountRequirements(const api::NodeSelectorMatcher& selector) {
  size_t count = 0;
  for (const api::NodeTerm& term : selector.Terms()) count += term.Labels().size();
  return count;
}

}  // namespace

CompiledTerm::CompiledTerm(const cluster::Cluster& cluster,
                           const std::vector<api::Requirement>& labels,
                           const std::vector<api::FieldRequirement>& fields, bool never,
                           bool is_one_of_many)
    : never_(never) {
  for (const api::Requirement& requirement : labels) {
    const cluster::StringId key = cluster.Strings().Intern(requirement.Key());
    if (!is_one_of_many) {
      labels_.push_back({requirement, &cluster.Labels(key), {}});
      continue;
    }
    LabelQuestion& question = questions_.emplace_back(LabelQuestion{key, requirement.Operator()});
    if (question.op == api::SelectorOperator::kGreaterThan ||
        question.op == api::SelectorOperator::kLessThan) {
      question.number = api::ParseGoInt(requirement.Values()[0]).value_or(0);
      continue;
    }
    for (const std::string& value : requirement.Values()) {
      question.values.push_back(cluster.Strings().Intern(value));
    }
    std::sort(question.values.begin(), question.values.end());
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

std::optional<int64_t> NodeLabelReader::Number(cluster::StringId key) {
  Entry& entry = Find(key);
  if (!entry.parsed && entry.value != cluster::kNoString) {
    entry.number = api::ParseGoInt(cluster_.Strings().Text(entry.value));
  }
  entry.parsed = true;
  return entry.number;
}

bool CompiledTerm::LabelQuestion::Matches(NodeLabelReader& labels) const {
  const cluster::StringId value = labels.Value(key);
  const bool is_absent = value == cluster::kNoString;
  const auto is_listed = [&] {
    return values.size() == 1 ? values[0] == value
                              : std::binary_search(values.begin(), values.end(), value);
  };
  switch (op) {
    case api::SelectorOperator::kIn:
    case api::SelectorOperator::kEquals:
    case api::SelectorOperator::kDoubleEquals:
      return !is_absent && is_listed();
    case api::SelectorOperator::kNotIn:
    case api::SelectorOperator::kNotEquals:
      return is_absent || !is_listed();
    case api::SelectorOperator::kExists:
      return !is_absent;
    case api::SelectorOperator::kDoesNotExist:
      return is_absent;
    case api::SelectorOperator::kGreaterThan:
    case api::SelectorOperator::kLessThan: {
      const std::optional<int64_t> found = labels.Number(key);
      if (!found) return false;
      return op == api::SelectorOperator::kGreaterThan ? *found > number : *found < number;
    }
  }
  return false;
}

bool CompiledTerm::NameMatches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  const cluster::StringId name = cluster.Record(n).name;
  return std::all_of(names_.begin(), names_.end(),
                     [&](const NameTest& test) { return (test.name == name) == test.equal; });
}

bool CompiledTerm::Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  if (!questions_.empty()) return MatchesAsOneOfMany(cluster, n);
  if (never_) return false;
  for (const LabelTest& test : labels_) {
    if (test.if_code[test.column->codes[n]] == 0) return false;
  }
  return names_.empty() || NameMatches(cluster, n);
}

bool CompiledTerm::MatchesAsOneOfMany(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  NodeLabelReader labels(cluster, n);
  return Matches(cluster, n, labels);
}

bool CompiledTerm::Matches(const cluster::Cluster& cluster, cluster::NodeIndex n,
                           NodeLabelReader& labels) const {
  if (questions_.empty()) return Matches(cluster, n);
  if (never_) return false;
  for (const LabelQuestion& question : questions_) {
    if (!question.Matches(labels)) return false;
  }
  return NameMatches(cluster, n);
}

NodeMatcher::NodeMatcher(const cluster::Cluster& cluster, const api::RequiredNodeAffinity& required)
    : node_selector_(cluster, required.NodeLabels().Requirements(), {},
                     required.NodeLabels().MatchesNothing(),
                     required.NodeLabels().Requirements().size() > kManyRequirements) {
  if (required.Required()) AddTerms(cluster, *required.Required());
}

NodeMatcher::NodeMatcher(const cluster::Cluster& cluster, const api::NodeSelectorMatcher& selector)
    : node_selector_(cluster, {}, {}, false) {
  AddTerms(cluster, selector);
}

void NodeMatcher::AddTerms(const cluster::Cluster& cluster,
                           const api::NodeSelectorMatcher& selector) {
  has_terms_ = true;
  many_ = CountRequirements(selector) > kManyRequirements;
  for (const api::NodeTerm& term : selector.Terms()) {
    terms_.emplace_back(cluster, term.Labels(), term.Fields(), !term.Errors().empty(), many_);
  }
}

void NodeMatcher::Prepare(const cluster::Cluster& cluster) {
  node_selector_.Prepare(cluster);
  for (CompiledTerm& term : terms_) term.Prepare(cluster);
}

bool NodeMatcher::Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  if (!node_selector_.Matches(cluster, n)) return false;
  if (!has_terms_) return true;
  if (many_) return MatchesMany(cluster, n);
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const CompiledTerm& term) { return term.Matches(cluster, n); });
}

bool NodeMatcher::MatchesMany(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
  NodeLabelReader labels(cluster, n);
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const CompiledTerm& term) { return term.Matches(cluster, n, labels); });
}

}  // namespace berth::plugins

#include "api/rules/node_affinity.h"

#include <algorithm>
#include <utility>

#include "api/go/error_list.h"

namespace berth::api {
namespace {

std::optional<SelectorOperator> LabelOperator(std::string_view name) {
  if (name == "In") return SelectorOperator::kIn;
  if (name == "NotIn") return SelectorOperator::kNotIn;
  if (name == "Exists") return SelectorOperator::kExists;
  if (name == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (name == "Gt") return SelectorOperator::kGreaterThan;
  if (name == "Lt") return SelectorOperator::kLessThan;
  return std::nullopt;
}

std::string At(const std::string& path, std::string_view list, size_t i) {
  std::string out = path;
  if (!out.empty()) out += '.';
  return out.append(list).append("[").append(std::to_string(i)).append("]");
}

std::optional<Requirement> LabelRequirement(const NodeSelectorRequirement& expression,
                                            const std::string& path,
                                            std::vector<std::string>& errors) {
  const std::optional<SelectorOperator> op = LabelOperator(expression.operator_);
  if (!op) {
    errors.push_back(UnsupportedValue(path + ".operator", expression.operator_,
                                      {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}));
    return std::nullopt;
  }
  return Requirement::Make(expression.key, *op, expression.values, path, errors);
}

std::optional<FieldRequirement> MakeFieldRequirement(const NodeSelectorRequirement& expression,
                                                     const std::string& path,
                                                     std::vector<std::string>& errors) {
  const bool equal = expression.operator_ == "In";
  if (!equal && expression.operator_ != "NotIn") {
    errors.push_back(UnsupportedValue(path + ".operator", expression.operator_, {"In", "NotIn"}));
    return std::nullopt;
  }
  if (expression.values.size() != 1) {
    errors.push_back(InvalidList(path + ".values", expression.values, "must have one element"));
    return std::nullopt;
  }
  return FieldRequirement{expression.key == "metadata.name", equal, expression.values[0]};
}

}  // namespace

NodeTerm::NodeTerm(const NodeSelectorTerm& term, const std::string& path) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    auto r = LabelRequirement(term.match_expressions[i], At(path, "matchExpressions", i), errors_);
    if (r) labels_.push_back(std::move(*r));
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i) {
    auto r = MakeFieldRequirement(term.match_fields[i], At(path, "matchFields", i), errors_);
    if (r) fields_.push_back(std::move(*r));
  }
  std::stable_sort(labels_.begin(), labels_.end(),
                   [](const Requirement& a, const Requirement& b) { return a.Key() < b.Key(); });
}

bool NodeTerm::Matches(std::string_view node_name, const StringMap& labels) const {
  if (!errors_.empty()) return false;
  for (const Requirement& requirement : labels_) {
    if (!requirement.Matches(labels)) return false;
  }
  if (node_name.empty()) return true;
  for (const FieldRequirement& requirement : fields_) {
    if (!requirement.Matches(node_name)) return false;
  }
  return true;
}

NodeSelectorMatcher::NodeSelectorMatcher(const NodeSelector& selector) {
  const std::vector<NodeSelectorTerm>& terms = selector.node_selector_terms;
  terms_.reserve(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!NodeTerm::IsEmpty(terms[i])) terms_.emplace_back(terms[i], At("", "nodeSelectorTerms", i));
  }
}

Result<NodeSelectorMatcher> NodeSelectorMatcher::Strict(const NodeSelector& selector) {
  NodeSelectorMatcher matcher(selector);
  if (std::string errors = matcher.Errors(); !errors.empty()) return Fail(std::move(errors));
  return matcher;
}

std::string NodeSelectorMatcher::Errors() const {
  std::vector<std::string> errors;
  for (const NodeTerm& term : terms_) {
    errors.insert(errors.end(), term.Errors().begin(), term.Errors().end());
  }
  return JoinErrors(errors);
}

bool NodeSelectorMatcher::Matches(std::string_view node_name, const StringMap& labels) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const NodeTerm& term) { return term.Matches(node_name, labels); });
}

Result<bool> NodeSelectorMatcher::Match(std::string_view node_name, const StringMap& labels) const {
  if (Matches(node_name, labels)) return true;
  if (std::string errors = Errors(); !errors.empty()) return Fail(std::move(errors));
  return false;
}

RequiredNodeAffinity::RequiredNodeAffinity(const StringMap& node_selector,
                                           const NodeSelector* required)
    : labels_(Selector::FromSet(node_selector)) {
  if (required) required_.emplace(*required);
}

Result<bool> RequiredNodeAffinity::Match(std::string_view node_name,
                                         const StringMap& labels) const {
  if (!labels_.Matches(labels)) return false;
  return required_ ? required_->Match(node_name, labels) : Result<bool>(true);
}

Result<PreferredNodeAffinity> PreferredNodeAffinity::Make(
    const std::vector<PreferredSchedulingTerm>& terms, std::string_view path) {
  PreferredNodeAffinity affinity;
  std::vector<std::string> errors;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight == 0 || NodeTerm::IsEmpty(terms[i].preference)) continue;
    NodeTerm term(terms[i].preference, std::string(path) + "[" + std::to_string(i) + "]");
    errors.insert(errors.end(), term.Errors().begin(), term.Errors().end());
    affinity.terms_.push_back({std::move(term), terms[i].weight});
  }
  if (!errors.empty()) return Fail(JoinErrors(errors));
  return affinity;
}

int64_t PreferredNodeAffinity::Score(std::string_view node_name, const StringMap& labels) const {
  int64_t score = 0;
  for (const WeightedTerm& weighted : terms_) {
    if (weighted.term.Matches(node_name, labels)) score += weighted.weight;
  }
  return score;
}

}  // namespace berth::api

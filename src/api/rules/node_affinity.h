// Node selectors ready to be matched: a pod's nodeSelector and node affinity, the node affinity of
// volumes and devices.
//
// Terms that do not parse never match. For what is required their errors count only if no other
// term matches; for what is preferred any error makes the whole list fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node_selector.h"
#include "api/rules/label_selector.h"
#include "api/string_map.h"
#include "base/error.h"

namespace berth::api {

// metadata.name is the one field a node has; every other field reads as empty.
struct FieldRequirement {
  bool is_name = false;
  bool equal = true;  // In; false: NotIn
  std::string value;

  bool Matches(std::string_view node_name) const {
    return ((is_name ? node_name : std::string_view()) == value) == equal;
  }
};

// One term: all its requirements hold.
class NodeTerm {
 public:
  // `path` names the term in its errors.
  NodeTerm(const NodeSelectorTerm& term, const std::string& path);

  // Matches no node and has no errors.
  static bool IsEmpty(const NodeSelectorTerm& term) {
    return term.match_expressions.empty() && term.match_fields.empty();
  }

  bool Matches(std::string_view node_name, const StringMap& labels) const;

  const std::vector<std::string>& Errors() const { return errors_; }
  const std::vector<Requirement>& Labels() const { return labels_; }
  // Ignored for a node without a name.
  const std::vector<FieldRequirement>& Fields() const { return fields_; }

 private:
  std::vector<Requirement> labels_;  // sorted by key
  std::vector<FieldRequirement> fields_;
  std::vector<std::string> errors_;
};

// At least one term matches.
class NodeSelectorMatcher {
 public:
  NodeSelectorMatcher() = default;
  explicit NodeSelectorMatcher(const NodeSelector& selector);

  // Fails with the errors of all its terms if there are any.
  static Result<NodeSelectorMatcher> Strict(const NodeSelector& selector);

  // Fails if no term matches and some do not parse.
  Result<bool> Match(std::string_view node_name, const StringMap& labels) const;
  // The same, false instead of an error.
  bool Matches(std::string_view node_name, const StringMap& labels) const;

  // Without empty terms.
  const std::vector<NodeTerm>& Terms() const { return terms_; }
  // All errors as one message, empty if there are none.
  std::string Errors() const;

 private:
  std::vector<NodeTerm> terms_;
};

// A pod's nodeSelector and required node affinity.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity(const StringMap& node_selector, const NodeSelector* required);

  Result<bool> Match(std::string_view node_name, const StringMap& labels) const;

  const Selector& NodeLabels() const { return labels_; }
  const std::optional<NodeSelectorMatcher>& Required() const { return required_; }

 private:
  Selector labels_;
  std::optional<NodeSelectorMatcher> required_;
};

// A pod's preferred node affinity.
class PreferredNodeAffinity {
 public:
  struct WeightedTerm {
    NodeTerm term;
    int32_t weight;
  };

  // `path` names the list in errors, empty for none. Terms of weight 0 are skipped unread.
  static Result<PreferredNodeAffinity> Make(const std::vector<PreferredSchedulingTerm>& terms,
                                            std::string_view path = "");

  // The sum of the weights of the terms that match.
  int64_t Score(std::string_view node_name, const StringMap& labels) const;

  const std::vector<WeightedTerm>& Terms() const { return terms_; }

 private:
  std::vector<WeightedTerm> terms_;
};

}  // namespace berth::api

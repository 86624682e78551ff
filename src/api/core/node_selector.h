// Node selectors: terms over node labels and fields, as node affinity, volumes and devices use
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/schema.h"

namespace berth::api {

// One requirement on a label or field: In, NotIn, Exists, DoesNotExist, Gt or Lt.
struct NodeSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;

  bool operator==(const NodeSelectorRequirement&) const = default;
  static const TypeInfo& Type();
};

// All requirements must hold; a term without any matches no node.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;

  bool operator==(const NodeSelectorTerm&) const = default;
  static const TypeInfo& Type();
};

// At least one term must match.
struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  bool operator==(const NodeSelector&) const = default;
  static const TypeInfo& Type();
};

// A term that adds its weight to the score of matching nodes.
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;

  bool operator==(const PreferredSchedulingTerm&) const = default;
  static const TypeInfo& Type();
};

// A label must have one of the values.
struct TopologySelectorLabelRequirement {
  std::string key;
  std::vector<std::string> values;

  bool operator==(const TopologySelectorLabelRequirement&) const = default;
  static const TypeInfo& Type();
};

// Where a storage class may provision: all label requirements hold.
struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;

  bool operator==(const TopologySelectorTerm&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api

#include "api/core/node_selector.h"

namespace berth::api {

const TypeInfo& NodeSelectorRequirement::Type() {
  static const TypeInfo type = Describe<NodeSelectorRequirement>("NodeSelectorRequirement")
                                   .Always(1, "key", &NodeSelectorRequirement::key)
                                   .Always(2, "operator", &NodeSelectorRequirement::operator_)
                                   .Field(3, "values", &NodeSelectorRequirement::values)
                                   .Build();
  return type;
}

const TypeInfo& NodeSelectorTerm::Type() {
  static const TypeInfo type =
      Describe<NodeSelectorTerm>("NodeSelectorTerm")
          .Field(1, "matchExpressions", &NodeSelectorTerm::match_expressions)
          .Field(2, "matchFields", &NodeSelectorTerm::match_fields)
          .Build();
  return type;
}

const TypeInfo& NodeSelector::Type() {
  static const TypeInfo type =
      Describe<NodeSelector>("NodeSelector")
          .Always(1, "nodeSelectorTerms", &NodeSelector::node_selector_terms)
          .Build();
  return type;
}

const TypeInfo& PreferredSchedulingTerm::Type() {
  static const TypeInfo type = Describe<PreferredSchedulingTerm>("PreferredSchedulingTerm")
                                   .Always(1, "weight", &PreferredSchedulingTerm::weight)
                                   .Always(2, "preference", &PreferredSchedulingTerm::preference)
                                   .Build();
  return type;
}

const TypeInfo& TopologySelectorLabelRequirement::Type() {
  static const TypeInfo type =
      Describe<TopologySelectorLabelRequirement>("TopologySelectorLabelRequirement")
          .Always(1, "key", &TopologySelectorLabelRequirement::key)
          .Always(2, "values", &TopologySelectorLabelRequirement::values)
          .Build();
  return type;
}

const TypeInfo& TopologySelectorTerm::Type() {
  static const TypeInfo type =
      Describe<TopologySelectorTerm>("TopologySelectorTerm")
          .Field(1, "matchLabelExpressions", &TopologySelectorTerm::match_label_expressions)
          .Build();
  return type;
}

}  // namespace berth::api

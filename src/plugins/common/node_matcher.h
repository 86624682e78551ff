// NodeMatcher: node selector terms compiled against the cluster's label columns.
//
// A requirement is evaluated once per distinct value of its label; a node then costs one lookup in
// the column and one in the results. Built for one cluster and kept for its lifetime: label values
// that appear later are evaluated in Prepare.
#pragma once

#include <cstdint>
#include <vector>

#include "api/rules/node_affinity.h"
#include "cluster/cluster.h"

namespace berth::plugins {

// The AND of requirements on labels and on the name of a node.
class CompiledTerm {
 public:
  CompiledTerm(const cluster::Cluster& cluster, const std::vector<api::Requirement>& labels,
               const std::vector<api::FieldRequirement>& fields, bool never);

  // Decides label values the cluster has learnt since the last call. REQUIRES: called on the
  // cycle's own thread before Matches in every cycle.
  void Prepare(const cluster::Cluster& cluster);

  bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const;

 private:
  struct LabelTest {
    api::Requirement requirement;
    const cluster::LabelColumn* column;
    std::vector<uint8_t> if_code;  // the answer by code of the label's value
  };

  // The node's name is this one, or is not.
  struct NameTest {
    cluster::StringId name;
    bool equal;
  };

  std::vector<LabelTest> labels_;
  std::vector<NameTest> names_;
  bool never_;  // does not parse: matches no node
};

// A pod's nodeSelector and required terms: the labels match, and so does at least one term if there
// are any.
class NodeMatcher {
 public:
  NodeMatcher(const cluster::Cluster& cluster, const api::RequiredNodeAffinity& required);
  NodeMatcher(const cluster::Cluster& cluster, const api::NodeSelectorMatcher& selector);

  void Prepare(const cluster::Cluster& cluster);
  bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const;

 private:
  void AddTerms(const cluster::Cluster& cluster, const api::NodeSelectorMatcher& selector);

  CompiledTerm node_selector_;
  bool has_terms_ = false;  // true and no term in the list: matches nothing
  std::vector<CompiledTerm> terms_;
};

}  // namespace berth::plugins

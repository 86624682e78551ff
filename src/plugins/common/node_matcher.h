// NodeMatcher: node selector terms compiled against the cluster's label columns.
//
// A requirement is evaluated once per distinct value of its label; a node then costs one lookup in
// the column and one in the results. Built for one cluster and kept for its lifetime: label values
// that appear later are evaluated in Prepare. A pod with very many requirements is the exception:
// columns and results for each of them would take more memory than the cluster, so they are
// compared with the labels of each node, by the ids of values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "api/rules/node_affinity.h"
#include "cluster/cluster.h"

namespace berth::plugins {

// The labels of one node, for comparing very many requirements with it: the last keys looked up are
// remembered.
class NodeLabelReader {
 public:
  NodeLabelReader(const cluster::Cluster& cluster, cluster::NodeIndex n)
      : cluster_(cluster), labels_(cluster.Record(n).labels) {}

  // kNoString: the node lacks the label.
  cluster::StringId Value(cluster::StringId key) { return Find(key).value; }
  // The value as Gt and Lt read it.
  std::optional<int64_t> Number(cluster::StringId key);

 private:
  struct Entry {
    cluster::StringId key = cluster::kNoString;
    cluster::StringId value = cluster::kNoString;
    bool parsed = false;
    std::optional<int64_t> number;
  };
  Entry& Find(cluster::StringId key) {
    Entry& entry = entries_[key % entries_.size()];
    if (entry.key != key) entry = {key, cluster::LabelValue(labels_, key), false, {}};
    return entry;
  }

  const cluster::Cluster& cluster_;
  const cluster::NodeLabels& labels_;
  std::array<Entry, 8> entries_;
};

// The AND of requirements on labels and on the name of a node.
class CompiledTerm {
 public:
  // `is_one_of_many`: makes no column and evaluates nothing in advance.
  CompiledTerm(const cluster::Cluster& cluster, const std::vector<api::Requirement>& labels,
               const std::vector<api::FieldRequirement>& fields, bool never,
               bool is_one_of_many = false);

  // Decides label values the cluster has learnt since the last call. REQUIRES: called on the
  // cycle's own thread before Matches in every cycle.
  void Prepare(const cluster::Cluster& cluster);

  bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const;
  // The same for one of many: `labels` are the node's.
  bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n,
               NodeLabelReader& labels) const;

 private:
  struct LabelTest {
    api::Requirement requirement;
    const cluster::LabelColumn* column;
    std::vector<uint8_t> if_code;  // the answer by code of the label's value
  };

  // One of many: without a column.
  struct LabelQuestion {
    cluster::StringId key;
    api::SelectorOperator op;
    int64_t number = 0;                          // of Gt and Lt
    std::vector<cluster::StringId> values = {};  // sorted

    bool Matches(NodeLabelReader& labels) const;
  };
  bool NameMatches(const cluster::Cluster& cluster, cluster::NodeIndex n) const;
  // On its own, because the reader's frame would cost every call of Matches.
  [[gnu::noinline]] bool MatchesAsOneOfMany(const cluster::Cluster& cluster,
                                            cluster::NodeIndex n) const;

  // The node's name is this one, or is not.
  struct NameTest {
    cluster::StringId name;
    bool equal;
  };

  std::vector<LabelTest> labels_;
  std::vector<LabelQuestion> questions_;  // instead of labels_
  std::vector<NameTest> names_;
  bool never_;  // does not parse: matches no node
};

// More requirements than a pod has that does not mean to be expensive.
inline constexpr size_t kManyRequirements = 256;

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
  [[gnu::noinline]] bool MatchesMany(const cluster::Cluster& cluster, cluster::NodeIndex n) const;

  CompiledTerm node_selector_;
  bool has_terms_ = false;  // true and no term in the list: matches nothing
  bool many_ = false;       // requirements in the terms
  std::vector<CompiledTerm> terms_;
};

}  // namespace berth::plugins

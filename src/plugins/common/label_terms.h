// LabelTerms: where volumes can be reached, as conditions on node labels: the node affinity of a
// volume, the allowed topologies of a storage class, the segment of a storage capacity.
//
// Compiled for one volume that may be used once, so the cost is per term, not per node or label
// value: values are compared by their id. LabelTermIndex finds, for a node, those of many terms
// that may match it.
//
// Threads: made and indexed on the cycle's own thread; matching only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/node_selector.h"
#include "api/meta.h"
#include "api/rules/label_selector.h"
#include "cluster/cluster.h"

namespace berth::plugins {

// At least one of the terms matches; a term is the AND of its requirements.
class LabelTerms {
 public:
  // Matches every node.
  LabelTerms() = default;

  // A volume's required node affinity: absent matches every node. Field requirements are ignored;
  // terms that do not parse match nothing.
  static LabelTerms OfVolume(const cluster::Cluster& cluster,
                             const std::optional<api::NodeSelector>& affinity);
  // An empty list matches every node, an empty term none.
  static LabelTerms OfClass(const cluster::Cluster& cluster,
                            const std::vector<api::TopologySelectorTerm>& topologies);
  // Absent, or not to be parsed: matches no node.
  static LabelTerms OfSelector(const cluster::Cluster& cluster,
                               const std::optional<api::LabelSelector>& selector);

  bool MatchesAll() const { return all_; }
  bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    if (all_) return true;
    for (const Term& term : terms_) {
      if (MatchesTerm(cluster, term, n)) return true;
    }
    return false;
  }
  // Appends numbers: terms with equal numbers match the same nodes. False: there are none.
  bool AppendNumbers(std::vector<int64_t>* out) const;

 private:
  friend class LabelTermIndex;

  struct Test {
    const cluster::LabelColumn* column;
    cluster::StringId key;
    api::SelectorOperator op;                  // kIn, kNotIn, kExists, kDoesNotExist, or:
    std::vector<cluster::StringId> values;     // sorted
    std::optional<api::Requirement> by_value;  // for every other operator
  };
  using Term = std::vector<Test>;

  static Test MakeTest(const cluster::Cluster& cluster, const api::Requirement& requirement);
  static Term MakeTerm(const cluster::Cluster& cluster,
                       const std::vector<api::Requirement>& requirements);
  static bool MatchesTerm(const cluster::Cluster& cluster, const Term& term, cluster::NodeIndex n);

  bool all_ = true;
  std::vector<Term> terms_;  // when !all_
};

// Items by the label values they require.
class LabelTermIndex {
 public:
  void Add(uint32_t item, const LabelTerms& terms);
  // REQUIRES: added with equal terms.
  void Remove(uint32_t item, const LabelTerms& terms);

  // Calls f(item) for every item whose terms may match the node, perhaps more than once.
  template <class F>
  void ForEach(cluster::NodeIndex n, F&& f) const {
    for (const ByKey& by : by_key_) {
      const auto it = by.items.find(by.column->values[by.column->codes[n]]);
      if (it == by.items.end()) continue;
      for (const uint32_t item : it->second) f(item);
    }
    for (const uint32_t item : others_) f(item);
  }

 private:
  struct ByKey {
    cluster::StringId key;
    const cluster::LabelColumn* column;
    boost::unordered_flat_map<cluster::StringId, std::vector<uint32_t>> items;
  };

  // Calls f(list) for the lists the item belongs to.
  template <class F>
  void ForEachList(const LabelTerms& terms, F&& f);
  ByKey& Of(const LabelTerms::Test& test);

  std::vector<ByKey> by_key_;
  std::vector<uint32_t> others_;  // items that do not require one of a few values
};

}  // namespace berth::plugins

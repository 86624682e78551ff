// ManyTerms: the terms of a pod that has very many of them.
//
// Usually each term has a counter of its own in cluster::TopologyCounters, which every placed pod
// keeps up to date. A pod may have ten thousand terms; so many counters would cost more memory and
// time than all other pods together. Here the placed pods are visited instead, once per cycle of
// such a pod, and what the terms mean for a pod is decided once per shape.
//
// Threads: the cycle's own only.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "cluster/cluster.h"
#include "cluster/pods/affinity_term.h"
#include "plugins/common/domain_counts.h"

namespace berth::plugins::inter_pod_affinity {

// From this many terms on.
inline constexpr size_t kManyTerms = 64;

// The label keys that nodes have. A topology key that no node has needs no column.
class NodeLabelKeys {
 public:
  bool Contains(const cluster::Cluster& cluster, cluster::StringId key);

 private:
  uint64_t generation_ = 0;  // of TopologyCounters
  boost::unordered_flat_set<cluster::StringId> keys_;
};

class ManyTerms {
 public:
  // What pods of one shape count for in the domains of one key.
  struct Share {
    uint32_t column;  // in Columns()
    int64_t terms;    // how many match
    int64_t weight;   // of these together
  };

  // With `joint`, a pod counts only if it matches all terms, and then once per key.
  explicit ManyTerms(bool joint = false) : joint_(joint) {}

  // `in_all_namespaces`: whatever the term says about namespaces.
  void Add(const cluster::AffinityTerm& term, bool in_all_namespaces,
           const cluster::LabelColumn& column, int64_t weight);
  bool Empty() const { return terms_.empty(); }
  const std::vector<const cluster::LabelColumn*>& Columns() const { return columns_; }

  // At most one per column. Good until the next call.
  const std::vector<Share>& Of(const cluster::Cluster& cluster, const cluster::PodShape& shape);
  bool MatchesAll(const cluster::Cluster& cluster, const cluster::PodShape& shape) const;

  // Adds the weights of all placed pods to `table`, by domain. Returns how many pods on nodes with
  // the label matched, once per term.
  template <class T>
  int64_t Count(const cluster::Cluster& cluster, DomainTable<T>* table) {
    for (const cluster::LabelColumn* column : columns_) table->For(*column);
    std::vector<DomainCounts<T>*> counts;
    for (const cluster::LabelColumn* column : columns_) counts.push_back(&table->For(*column));
    int64_t found = 0;
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      for (const cluster::PodId pod : cluster.Record(n).pods) {
        for (const Share& share : Of(cluster, *cluster.GetPod(pod).shape)) {
          const uint32_t code = columns_[share.column]->codes[n];
          if (code == cluster::LabelColumn::kAbsent) continue;
          counts[share.column]->Add(code, static_cast<T>(share.weight));
          found += share.terms;
        }
      }
    });
    return found;
  }

 private:
  struct Term {
    cluster::AffinityTerm term;
    bool in_all_namespaces;
    uint32_t column;
    int64_t weight;

    bool Matches(const cluster::Cluster& cluster, const cluster::PodShape& shape) const;
  };

  bool joint_;
  std::vector<Term> terms_;
  std::vector<const cluster::LabelColumn*> columns_;  // distinct
  boost::unordered_flat_map<const cluster::LabelColumn*, uint32_t> column_index_;
  boost::unordered_flat_map<uint64_t, std::vector<Share>> of_shape_;  // by serial
};

}  // namespace berth::plugins::inter_pod_affinity

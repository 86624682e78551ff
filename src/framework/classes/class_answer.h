// ClassAnswer: what a class says about one pod. Equal to what a scan of the candidates would find.
//
// Filled by ClassCache::Find and owned by the cycle it was made for. It refers to the class, so it
// is valid until the next Find on the same cache or the next change of the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/classes/class_verdicts.h"
#include "framework/classes/pod_class.h"

namespace berth::framework {

struct ClassAnswer {
  size_t feasible_count = 0;  // 0: every candidate has a verdict
  size_t best_count = 0;      // nodes that share the highest total
  bool scored = false;        // more than one node fits
  int64_t total = 0;          // the highest, when scored

  // The rank-th of the best nodes in row order. REQUIRES: rank < best_count.
  cluster::NodeIndex Pick(size_t rank) const;
  // All feasible nodes and all best ones, at the price of a look at every row.
  void List(cluster::NodeSet* feasible, cluster::NodeSet* best) const;
  // The distinct verdicts and how many candidates have each. REQUIRES: feasible_count == 0.
  const VerdictCounts& Rejections() const;
  // The same by node. REQUIRES: feasible_count == 0.
  void WriteVerdicts(VerdictTable* table) const;

  // --- Written by the evaluator.
  // Nodes of one cell that are candidates and pass the filters of their own.
  struct CellView {
    PodClass::Cell* cell;
    size_t count;
    int64_t highest_local;
  };

  PodClass* nodes = nullptr;
  ClassVerdicts* verdicts = nullptr;          // of nodes that do not fit; null: not recorded
  const cluster::NodeSet* within = nullptr;   // null: every node is a candidate
  std::vector<CellView> cells;                // that passed the filters of domains
  std::vector<RowSets::Id> best_sets;         // without `within`
  std::vector<cluster::NodeIndex> best_rows;  // with `within`, in row order
  std::vector<Verdict> cell_verdicts;         // of cells that did not pass, by position
  // Candidates where the pod would take the capacity promised to a nominated pod.
  std::vector<std::pair<cluster::NodeIndex, Verdict>> beside_nominated;
  VerdictCounts rejections;
};

}  // namespace berth::framework

// ClassEvaluator: decides about one pod from a class that is up to date.
//
// Filters and scores that depend on topology domains run once per cell of nodes that are alike.
// Nodes with nominated pods are evaluated one by one. `within` narrows the candidates: then the
// cost is that of a look at every candidate, without calling a plugin for it.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/classes/class_answer.h"
#include "framework/classes/class_plan.h"
#include "framework/classes/class_refresh.h"
#include "framework/classes/class_store.h"
#include "framework/points/batch.h"

namespace berth::framework {

class ClassEvaluator {
 public:
  ClassEvaluator(const ClassPlan& plan, ClassRefresh& refresh) : plan_(plan), refresh_(refresh) {}

  // Finds the cells whose nodes are feasible. `cluster` is the cycle's, and unchanged on return.
  // False: a scan must decide.
  bool Filter(Cycle& cycle, cluster::Cluster& cluster, ClassEntry& entry, const NodeSet* within,
              ClassAnswer* answer);
  // Scores these cells and finds the best, or gives every candidate its verdict where nothing fits.
  // REQUIRES: Filter succeeded for the same pod. False: a scan must decide.
  bool Decide(Cycle& cycle, ClassEntry& entry, ClassAnswer* answer);
  // Adds the calls of plugins that Refresh, Filter and Decide made to the cycle's counts.
  void CountCalls(Cycle& cycle, const ClassAnswer& answer) const;

 private:
  bool LeaveCapacityToNominated(Cycle& cycle, cluster::Cluster& cluster, ClassAnswer* answer);
  void CollectCells(ClassAnswer* answer);
  bool FilterCell(Cycle& cycle, PodClass::Cell& cell, ClassAnswer* answer);
  bool ScoreCells(Cycle& cycle, const ClassAnswer& answer);
  bool ScoreDomains(Cycle& cycle, size_t score);
  bool AddCellScores(int64_t weight);
  void FindBest(ClassAnswer* answer);
  void CollectBestRows(ClassAnswer* answer) const;
  bool Reject(Cycle& cycle, ClassEntry& entry, ClassAnswer* answer);
  void CountRejections(ClassAnswer* answer) const;
  void CountRejectionsWithin(ClassAnswer* answer) const;

  const ClassPlan& plan_;
  ClassRefresh& refresh_;

  // Scratch. By position in ClassAnswer::cells:
  std::vector<AlikeNodes> alike_;
  std::vector<int64_t> offsets_;  // what normalised scores add
  std::vector<int64_t> cell_scores_;
  std::vector<ClassAnswer::CellView> views_;  // by position in PodClass::Cells, with `within`
  std::vector<ClassAnswer::CellView> live_;   // cells with candidates
  NodeSet one_;                               // empty in between
  NodeSet positions_;                         // 0 .. number of cells
  ScoreColumn column_;
};

}  // namespace berth::framework

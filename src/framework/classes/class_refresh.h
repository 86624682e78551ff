// ClassRefresh: keeps what a class knows of every row up to date.
//
// The cluster logs the rows that change (Cluster::Changes), and so do plugins whose answers change
// for other reasons (ClaimAwarePlugin::ChangedRows). A class that missed few of them evaluates
// those rows again; one that missed many, or whose premises changed, is rebuilt by a scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/classes/class_key.h"
#include "framework/classes/class_plan.h"
#include "framework/classes/class_store.h"
#include "framework/points/batch.h"

namespace berth::framework {

class ClassRefresh {
 public:
  ClassRefresh(const ClassPlan& plan, ClassStore& store) : plan_(plan), store_(store) {}

  // Makes entry.nodes (and entry.verdicts, if there are any) current for the cycle's pod. False: a
  // scan must decide.
  bool Refresh(Cycle& cycle, const ClassKey& key, ClassEntry& entry);
  // Records from now on why nodes do not fit. False: a scan must report an error.
  bool RecordVerdicts(Cycle& cycle, ClassEntry& entry);

  // Rows that local plugins evaluated for the pod at hand.
  uint64_t RowsEvaluated() const { return rows_evaluated_; }
  uint64_t Builds() const { return builds_; }
  uint64_t RowsRefreshed() const { return rows_refreshed_; }

 private:
  bool MissedFew(const cluster::Cluster& cluster, const ClassEntry& entry) const;
  bool CatchUp(Cycle& cycle, ClassEntry& entry);
  bool EvaluateRow(Cycle& cycle, ClassEntry& entry, NodeIndex row);
  bool FilterRow(Cycle& cycle, ClassEntry& entry, NodeIndex row);
  int64_t ScoreRow(Cycle& cycle, size_t score, NodeIndex row);
  bool Build(Cycle& cycle, const ClassKey& key, ClassEntry& entry);
  void FilterAll(Cycle& cycle);
  bool ScoreAll(Cycle& cycle, size_t score, std::vector<int64_t>& sums);
  void AppendDomainTraits(Cycle& cycle, NodeIndex row);

  const ClassPlan& plan_;
  ClassStore& store_;
  uint64_t rows_evaluated_ = 0;
  uint64_t rows_refreshed_ = 0;
  uint64_t builds_ = 0;

  // Scratch.
  NodeSet one_;  // empty in between
  NodeSet feasible_;
  ScoreColumn column_;
  std::vector<NodeIndex> stale_;
  std::vector<int64_t> traits_;
  std::vector<int64_t> local_;
  std::vector<std::vector<int64_t>> raw_;
};

}  // namespace berth::framework

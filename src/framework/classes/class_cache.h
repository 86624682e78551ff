// ClassCache: decides about a pod from cached results of earlier equal pods, where that is exact.
//
// Per class a PodClass holds the results for every node. The cluster logs the rows that change
// (Cluster::Changes); before a class is used, those rows and no others are evaluated again. Plugin
// declarations (Plugin::DependsOn, ClassAwarePlugin) decide which results are cached per row and
// which are computed for every pod, once per cell of equal nodes. Nodes with nominated pods are
// evaluated one by one. If a plugin that concerns the pod depends on more than can be tracked,
// there is no result, and the caller scans all nodes.
//
// Pods belong to one class if they are of one kind (PodShape::kind) and their claims
// (ClaimAwarePlugin) and labels (LabelAwarePlugin) mean the same to the plugins. So pods with
// individual claims or labels, such as those of a StatefulSet, share one.
//
// With or without it, decisions are the same: the same feasible nodes, the same totals, and so the
// same choice; where nothing fits, the same verdict on every node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/classes/class_verdicts.h"
#include "framework/classes/pod_class.h"
#include "framework/points/claim_aware.h"
#include "framework/points/label_aware.h"
#include "framework/runtime/profile.h"

namespace berth::framework {

class Cycle;

// Equal to the result of a scan of all nodes.
struct ClassAnswer {
  size_t feasible_count = 0;  // none: the cycle has a verdict on every node
  size_t best_count = 0;      // nodes that share the highest total
  bool scored = false;        // more than one node fits
  int64_t total = 0;          // the highest, when scored
};

class ClassCache {
 public:
  // Memory limit of all classes together; the least recently used is evicted first.
  static constexpr size_t kDefaultMemory = size_t{512} << 20;

  explicit ClassCache(const Profile& profile, size_t memory_bytes = kDefaultMemory);

  // The result for the cycle's pod, after RunPreFilter succeeded. Absent: scan all nodes. `cluster`
  // is the cycle's, and unchanged when it returns.
  std::optional<ClassAnswer> Find(Cycle& cycle, cluster::Cluster& cluster);
  // The rank-th of the best nodes in row order. REQUIRES: Find has just answered, and some fit.
  NodeIndex Pick(size_t rank);
  // All feasible nodes and all best ones, at the cost of a scan of the rows. REQUIRES: Find has
  // just answered.
  void List(NodeSet* feasible, NodeSet* best);
  // The distinct verdicts and how many nodes have each. REQUIRES: Find has just answered, and none
  // fits.
  const VerdictCounts& Rejections() const { return rejections_; }
  // The same by node. REQUIRES: as above.
  void WriteVerdicts(VerdictTable* table) const;

  // For tests: build a class for every pod that may have one, regardless of cost.
  void set_eager(bool eager) { eager_ = eager; }

  struct Statistics {
    uint64_t answers = 0;
    uint64_t builds = 0;  // of a class, by a scan of all nodes
    uint64_t rows = 0;    // evaluated again one by one
    uint64_t evictions = 0;
  };
  const Statistics& statistics() const { return statistics_; }
  size_t MemoryBytes() const { return memory_used_; }

 private:
  struct Role {
    uint32_t depends_on = 0;
    const ClassAwarePlugin* aware = nullptr;
    const ClaimAwarePlugin* claims = nullptr;
    const LabelAwarePlugin* labels = nullptr;
    bool by_domain = false;  // evaluated per cell, for every pod
    bool unknown = false;    // depends on more than can be tracked
  };
  // The longest postponement of a class, in pods.
  static constexpr uint32_t kLongestWait = 1024;
  using Numbers = std::vector<int64_t>;
  // The cached results of one class.
  struct Entry {
    uint64_t serial = 0;  // never reused. 0: the entry is free
    Numbers key;
    uint64_t shape = 0;  // serial of the shape of its last pod
    uint64_t last_use = 0;
    uint32_t answers = 0;  // since the class was made
    uint32_t wait = 0;     // pods to decide by scanning before a class is built
    uint32_t waited = 0;
    size_t held_at = 0;  // in held_, with a class
    size_t bytes = 0;
    uint64_t position = 0;            // in the cluster's log
    std::vector<uint64_t> positions;  // in those of plugins
    Numbers premises;
    std::unique_ptr<PodClass> nodes;
    std::unique_ptr<ClassVerdicts> verdicts;  // null: not cached yet

    size_t MemoryBytes() const {
      return nodes->MemoryBytes() + (verdicts ? verdicts->MemoryBytes() : 0);
    }
  };
  // The entry that the last pod of a shape used.
  struct Shape {
    uint64_t serial = 0;
    Entry* entry = nullptr;  // null: none yet
    uint64_t entry_serial = 0;
  };
  using Key = std::span<const int64_t>;
  struct KeyHash {
    size_t operator()(Key key) const { return boost::hash_range(key.begin(), key.end()); }
  };
  struct KeyEqual {
    bool operator()(Key a, Key b) const {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  // Each returns false if the pod cannot use a class.
  bool AskPreScores(Cycle& cycle);
  bool SortPlugins(Cycle& cycle);
  bool SortFilters(Cycle& cycle);
  bool SortScores();
  void NoteAware(uint8_t index);
  bool CollectPremises(Cycle& cycle);
  bool Refresh(Cycle& cycle, Entry& entry);
  bool IsNear(const cluster::Cluster& cluster, const Entry& entry) const;
  bool CatchUp(Cycle& cycle, Entry& entry);
  bool Build(Cycle& cycle, Entry& entry);
  bool LookAgain(Cycle& cycle, NodeIndex row);
  bool LeaveRoom(Cycle& cycle, cluster::Cluster& cluster);
  bool FilterCells(Cycle& cycle);
  bool ScoreCells(Cycle& cycle);
  bool AddCellScores(int64_t weight);
  bool AddLocal(Cycle& cycle, size_t plugin, std::vector<int64_t>& sums);
  void FilterAll(Cycle& cycle);
  bool KeepVerdicts(Cycle& cycle, Entry& entry);
  bool TellVerdicts(Cycle& cycle, Entry& entry);
  std::optional<ClassAnswer> Answer(Cycle& cycle, Entry& entry);
  void CountCalls(Cycle& cycle) const;

  static bool HasClaims(const cluster::PodShape& shape);
  Shape& ShapeOf(const cluster::PodShape& shape);
  // Appends the meaning of the pod's claims. False: they cannot be compared with other pods'.
  bool BeginKey(Cycle& cycle);
  void FinishKey(Cycle& cycle);
  // The entry of the last pod of this shape, if there is one.
  static Entry* LastOf(const cluster::PodShape& shape, const Shape& known);
  Entry& EntryFor(Shape& shape, Entry* last);
  Entry& NewEntry();
  void GiveKey(Entry& entry);
  bool Waits(Entry& entry) const;
  void ForgetOld();
  void ForgetAll();
  static void PutOff(Entry& entry);
  void LimitMemory(Entry& entry);
  void Drop(Entry& entry);

  const Profile& profile_;
  const size_t memory_limit_;
  std::vector<Role> roles_;  // by plugin position
  std::vector<Served<const ClassAwarePlugin>> aware_;
  const cluster::Cluster* cluster_ = nullptr;
  bool eager_ = false;
  bool reads_labels_ = false;  // some plugin reads labels without being label-aware

  std::deque<Entry> entries_;  // a deque: entries never move
  std::vector<Entry*> free_;
  boost::unordered_flat_map<Key, Entry*, KeyHash, KeyEqual> by_key_;  // keys are the entries'
  std::vector<Shape> shapes_;                                         // by id
  uint64_t entries_made_ = 0;
  std::vector<Entry*> held_;  // those with a class
  size_t memory_used_ = 0;
  uint64_t clock_ = 0;
  Statistics statistics_;

  // Classification of the plugins that concern the pod of the last Find.
  std::vector<uint8_t> sorted_filters_;  // those skipped, by plugin position
  std::vector<uint8_t> sorted_scores_;
  bool sorted_well_ = false;
  size_t sorted_premises_ = 0;  // how many of the premises encode the classification
  std::vector<Served<FilterPlugin>> local_filters_;
  std::vector<Served<FilterPlugin>> domain_filters_;
  std::vector<size_t> local_scores_;       // positions in profile_.score
  std::vector<size_t> normalized_scores_;  // the same; their raw scores are the first traits
  std::vector<size_t> domain_scores_;
  bool domains_last_ = true;  // no filter of nodes themselves comes after one of domains
  std::vector<const cluster::RowLog*> logs_;  // of plugins among the local filters

  // About the pod of the last Find.
  Numbers premises_;
  Numbers key_;
  PodClass* nodes_ = nullptr;
  ClassVerdicts* verdicts_ = nullptr;
  std::vector<std::pair<NodeIndex, Verdict>> in_the_way_;  // of nominated pods
  std::vector<Verdict> cell_verdicts_;                     // of cells that did not pass
  VerdictCounts rejections_;
  std::vector<PodClass::Cell*> cells_;  // that passed the filters
  std::vector<AlikeNodes> alike_;       // the same
  std::vector<int64_t> offsets_;        // the same: what normalised scores add
  std::vector<RowSets::Id> best_;
  uint64_t rows_asked_ = 0;  // evaluated by node-local filters and scores

  // Scratch.
  std::vector<uint8_t> skipped_;     // PreScore returned Skip, by plugin position
  std::vector<uint8_t> pre_scored_;  // plugins whose PreScore succeeded
  std::vector<NodeIndex> again_;
  std::vector<int64_t> traits_;
  NodeSet one_;  // empty in between
  NodeSet feasible_;
  NodeSet some_cells_;
  ScoreColumn column_;
  std::vector<int64_t> cell_scores_;
  std::vector<int64_t> local_;
  std::vector<std::vector<int64_t>> raw_;
};

}  // namespace berth::framework

// Algorithm: from a pod to the node it should run on, or to the reasons why there is none.
//
// The deciding half of a scheduling cycle: PreFilter, the search for feasible nodes, scores, the
// choice among equals. The cluster is as before when it returns (nominated pods are put on their
// nodes for a moment); assuming the pod is the caller's business. Deterministic: equal clusters,
// pods, seeds and numbers of earlier calls give equal answers.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/node_positions.h"
#include "framework/runtime/ranked_set.h"

namespace berth::scheduler {

struct AlgorithmOptions {
  // Changes results: with a percentage of 0, look at as many nodes as
  // kube-scheduler would instead of at all.
  bool adaptive_sampling = false;
  // Changes results: chooses among nodes with equal totals, where the choice is random
  // (Behaviour::tie_break_by_heap is off, or extenders scored the nodes).
  uint64_t seed = 0;
  // Changes results: extenders filter or score, so one feasible node is never enough.
  bool extenders_choose = false;
  // Changes speed only: decide from what earlier pods of the same shape found, where that is exact,
  // and without sets of nodes where only one is to be looked at.
  bool classes = true;
};

enum class Outcome : uint8_t {
  kScheduled,
  kUnschedulable,  // no node fits: see diagnosis
  kError,          // the cycle failed: see error
};

// What a cycle found. The Cycle it ran on has the details: verdicts, scores per plugin.
struct Decision {
  Outcome outcome = Outcome::kError;
  cluster::NodeIndex node = cluster::kNoNode;
  // Found without looking at every node. A pod that is scheduled: `feasible`, `best` and the
  // diagnosis are empty, and the cycle has no verdicts and no scores. One that fits nowhere: all is
  // as after a search.
  bool from_class = false;
  // PreFilter has left one node, and the pod fits there: the sets are empty just so.
  bool only_node = false;
  framework::NodeSet feasible;
  size_t feasible_count = 0;
  size_t evaluated_nodes = 0;
  bool nominated_first = false;  // the nominated node passed, so no other was looked at
  bool scored = false;
  // Nodes that share the highest total; the chosen one is among them.
  framework::NodeSet best;
  size_t best_count = 0;
  int64_t total = 0;  // the highest, when scored
  framework::Status pre_filter;
  framework::Diagnosis diagnosis;
  std::string error;
};

class Algorithm {
 public:
  explicit Algorithm(const AlgorithmOptions& options) : options_(options), random_(options.seed) {}

  // Decides about `pod` on `cycle`, which belongs to the pod's profile. `decision` is reused from
  // call to call. `score_always`: give scores even if there is only one feasible node, and say why
  // nodes were left out even if some fit (for reports; the answer is the same). `within`: see
  // Cycle::Begin.
  void Schedule(framework::Cycle& cycle, cluster::Cluster& cluster, const cluster::Pod& pod,
                Decision* decision, bool score_always = false,
                const framework::NodeSet* within = nullptr);

  // The same in steps, for pods about which others are asked in between: Begin, FindNominated, if
  // that fails FindNodes, Score, Choose. The set `feasible` (and its count) may shrink between the
  // steps, and totals may be added to before Choose. False: the cycle is over, see the outcome.
  bool Begin(framework::Cycle& cycle, cluster::Cluster& cluster, const cluster::Pod& pod,
             Decision* decision, const framework::NodeSet* within = nullptr);
  // True: the nominated node passes, and is the only one in `feasible`. Nothing is decided.
  bool FindNominated(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  bool FindNodes(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  // When no node is left after FindNodes.
  void NoneLeft(framework::Cycle& cycle, Decision* decision);
  bool Score(framework::Cycle& cycle, Decision* decision, bool always = false);
  // `drawn`: nodes that extenders scored, if any did. From 1.35 on a random one of those wins.
  void Choose(framework::Cycle& cycle, Decision* decision,
              const framework::NodeSet* drawn = nullptr);

  // Where the next search starts, in the cluster's node order.
  size_t NextStart() const { return next_start_; }
  // Is the same decided about a pod however many were decided about before? `profile` is its.
  bool RepeatsItself(const framework::Profile& profile) const;
  // A search that was begun is begun again: it starts where it did.
  void StartAgainAt(size_t start) { next_start_ = start; }

 private:
  // Each returns false when the cycle is over.
  bool RunPreFilter(framework::Cycle& cycle, Decision* decision);
  bool TryOnlyNode(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  bool TryClass(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  void NothingFits(framework::Cycle& cycle, const cluster::Cluster& cluster, Decision* decision);
  bool FindLast(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  static void NoteRestricting(const framework::Cycle& cycle, Decision* decision);
  static void NoteAbsent(const framework::Cycle& cycle, Decision* decision);
  void Search(framework::Cycle& cycle, cluster::Cluster& cluster, Decision* decision);
  void SearchOne(framework::Cycle& cycle, cluster::Cluster& cluster, cluster::NodeIndex n,
                 Decision* decision);
  void SearchInOrder(framework::Cycle& cycle, cluster::Cluster& cluster, size_t wanted,
                     Decision* decision);
  size_t NodesToFind(const framework::Cycle& cycle, size_t candidates) const;
  void ChooseBest(const framework::Cycle& cycle, Decision* decision);
  cluster::NodeIndex ChooseRandom(const framework::NodeSet& best, size_t count);
  cluster::NodeIndex ChooseByHeap(const framework::Cycle& cycle, const Decision& decision);
  const framework::RankedSet& FeasiblePositions(const cluster::Cluster& cluster,
                                                const Decision& decision);

  AlgorithmOptions options_;
  Random random_;
  size_t next_start_ = 0;
  size_t search_start_ = 0;             // of the last search
  framework::NodePositions positions_;  // for ChooseByHeap
  framework::RankedSet fits_;           // scratch
  std::vector<int64_t> word_best_;      // scratch
  framework::NodeSet candidates_;       // scratch
};

}  // namespace berth::scheduler

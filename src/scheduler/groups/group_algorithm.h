// GroupAlgorithm: from a pod group to nodes for its pods, or to the reasons why there are none.
//
// The pods are decided one after the other in one cluster::Transaction, each with those before it
// in place; where groups may have topology constraints, once per placement. The cluster is as
// before when Run returns: committing the pods is the caller's business, with an Attempt each.
//
// Deterministic: of placements with equal totals the first by name is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "framework/runtime/cycle.h"
#include "scheduler/attempt.h"
#include "scheduler/groups/group_result.h"
#include "scheduler/groups/group_watch.h"
#include "scheduler/groups/placement_capacity.h"

namespace berth::scheduler {

// Decides where one pod of a group goes. For callers that choose among equal nodes in a way of
// their own.
class MemberDecider {
 public:
  virtual ~MemberDecider() = default;
  // Brings the attempt to a decision among the nodes `within` (null: all). Returns the node of a
  // decision that is kScheduled.
  virtual cluster::NodeIndex Decide(Attempt& attempt, const framework::NodeSet* within) = 0;
  // Is the same decided about a pod however many were decided about before? Then a cycle may decide
  // about fewer.
  virtual bool RepeatsItself() const { return false; }
  // For callers that run a cycle again from its start, with the same pods on the same cluster: what
  // the pod whose turn it is came to before. Null: it is to be decided about.
  virtual const MemberResult* Recall() { return nullptr; }
  // A pod that was decided about has come to this.
  virtual void Remember(const MemberResult&) {}
};

class GroupAlgorithm {
 public:
  // `cycle` belongs to the profile of the group's pods. All arguments outlive the algorithm.
  GroupAlgorithm(framework::Cycle& cycle, cluster::Cluster& cluster, MemberDecider& decider)
      : cycle_(cycle), cluster_(cluster), decider_(decider) {}

  // Beyond kube-scheduler: where the pods in their order do not find places, a search may place
  // this many, see group_search.cc. 0, as at first: nothing is searched.
  void set_search_steps(int64_t steps) { search_steps_ = steps; }
  // Null: nobody watches.
  void set_watch(GroupWatch* watch) { watch_ = watch; }

  // REQUIRES: `info` has at least one pod, and they are pending.
  GroupResult Run(const framework::PodGroupInfo& info);

 private:
  class Trial;
  class Hunt;
  // A run over one placement, or over all nodes.
  struct Search {
    GroupStatus status;
    bool any_scheduled = false;
    std::vector<MemberResult> members;
    std::vector<framework::TrialAssignment> kept;  // of those with a node, if states are kept
  };

  Search RunRoot(const framework::PodGroupInfo& info, std::vector<PlacementResult>* placements);
  Search RunPlacements(const framework::PodGroupInfo& info,
                       std::vector<PlacementResult>* placements);
  Search RunIn(const framework::PodGroupInfo& info, const framework::NodeSet* within);
  Search RunPlacement(const framework::PodGroupInfo& info, const framework::Placement& placement);
  Search TryPlacements(const framework::PodGroupInfo& info, bool may_count, PlacementResult* result,
                       bool* over);
  struct Counted {
    bool feasible = false;
    int64_t pods = 0;  // of the group that get nodes, if it is
  };
  std::optional<Counted> CountPlacement(const framework::PodGroupInfo& info,
                                        const PlacementCapacity& capacity,
                                        const framework::Placement& placement,
                                        int64_t placed) const;
  // False: it has found nothing.
  bool RunSearch(const framework::PodGroupInfo& info, const framework::NodeSet* within,
                 framework::PlacementProgress start, Search* search);
  std::vector<cluster::PodId> HardestFirst(const framework::PodGroupInfo& info,
                                           const framework::NodeSet* within);
  void PlaceMembers(const framework::PodGroupInfo& info, const framework::NodeSet* within,
                    framework::PlacementProgress progress, Search* search);
  MemberResult PlaceMember(cluster::PodId pod, const framework::NodeSet* within);
  MemberResult DecideMember(cluster::PodId pod, const framework::NodeSet* within);
  void PlaceAsBefore(const MemberResult& known, const framework::NodeSet* within);
  void TellFailure(MemberResult* member);
  void KeepState(const MemberResult& member, Search* search);
  void Unreserve(const MemberResult& member, framework::CycleState* state);
  void UnreserveLast(const MemberResult& member, Search* search);
  void TakeBack(Search* search);
  framework::Status Feasible(const framework::PodGroupInfo& info,
                             const framework::PlacementProgress& progress) const;
  void RunPostFilter(const framework::PodGroupInfo& info, GroupResult* result);
  framework::Status AskPostFilters(const framework::PodGroupInfo& info, Trial& trial,
                                   framework::PodGroupPostFilterResult* result);
  framework::Status AskPostFilter(framework::PodGroupPostFilterPlugin& plugin,
                                  const framework::PodGroupInfo& info, Trial& trial,
                                  framework::PodGroupPostFilterResult* result);

  framework::Cycle& cycle_;
  cluster::Cluster& cluster_;
  MemberDecider& decider_;
  Attempt attempt_;
  bool keep_states_ = false;  // of pods that got a node
  int64_t search_steps_ = 0;
  GroupWatch* watch_ = nullptr;
};

}  // namespace berth::scheduler

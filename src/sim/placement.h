// Placement: schedules the pending pods of a World one after the other, as kube-scheduler would in
// an otherwise idle cluster. Pods of pod groups are scheduled in group cycles where the behaviour
// has them (Behaviour::pod_groups).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/groups/group_algorithm.h"
#include "scheduler/profile_set.h"
#include "sim/entities.h"
#include "sim/world.h"

namespace berth::sim {

struct PluginScore {
  std::string plugin;
  int64_t raw = 0;
  int64_t normalized = 0;
  int64_t weighted = 0;
};

// The outcome of one pod.
struct PodOutcome {
  enum class Kind : uint8_t {
    kPlaced,
    kUnschedulable,
    kGated,
    kPreempted,  // placed first, then preempted by a later pod
    kError,
    kForeign,  // belongs to another scheduler: ignored
  };

  cluster::PodId pod = cluster::kNoPod;
  std::string namespace_;
  std::string name;
  std::string group;  // its pod group, when it was scheduled with it
  Kind kind = Kind::kError;
  cluster::NodeIndex node = cluster::kNoNode;
  std::string message;  // the FailedScheduling message, the gate's status or the error
  size_t feasible_nodes = 0;
  size_t evaluated_nodes = 0;
  size_t equal_nodes = 0;  // shared the highest total, the chosen one among them
  int64_t total = 0;
  std::vector<PluginScore> scores;   // of the chosen node, with keep_scores
  std::vector<std::string> victims;  // "namespace/name" of preempted pods
};

// The outcome of a group cycle.
struct GroupOutcome {
  enum class Kind : uint8_t {
    kPlaced,  // as many pods as the minimum says have a node
    kUnschedulable,
    kGated,
    kError,
  };
  // Pods that could not be placed when as many as possible were, by the message.
  struct Blocker {
    std::string message;
    std::string pod;  // the first of them
    int64_t pods = 0;
  };

  std::string namespace_;
  std::string name;
  Kind kind = Kind::kError;
  int64_t min_count = 0;  // 0: the group is no gang
  int64_t pods = 0;       // that waited
  int64_t running = 0;    // that had a node before
  int64_t placed = 0;     // in the cycle
  // Of a group that was not placed: the most pods that get nodes at once if the minimum is ignored,
  // and the topology domain in which they do.
  int64_t best = 0;
  std::string best_placement;
  std::vector<Blocker> blockers;  // most pods first, up to kMaxBlockers
  std::string placement;          // the topology domain that was chosen
  int64_t placements = 0;         // how many there were to choose from
  std::string message;            // of the condition PodGroupInitiallyScheduled
  std::vector<std::string> victims;

  static constexpr size_t kMaxBlockers = 5;
};

struct PlacementOptions {
  scheduler::AlgorithmOptions algorithm;
  bool keep_scores = false;  // Changes speed only: fill PodOutcome::scores.
};

class Placement : private scheduler::MemberDecider {
 public:
  // Both outlive the placement. `profiles` were made for the world's cluster.
  Placement(World& world, scheduler::ProfileSet& profiles, const PlacementOptions& options);

  // Schedules one pod; if it fits it is placed. Preemption, if it finds victims, deletes them at
  // once and the pod is tried again.
  PodOutcome Schedule(cluster::PodId pod);

  // Schedules a pod, or the pods of a group in one cycle: all as one transaction, with preemption
  // for the whole group. Appends an outcome per pod; earlier outcomes of victims change.
  void Schedule(const Entity& entity, std::vector<PodOutcome>* outcomes);

  // Schedules all pending pods in queue order. `progress` (may be empty) is called with the number
  // done.
  std::vector<PodOutcome> ScheduleAll(const std::function<void(size_t done)>& progress);

  // Of the groups scheduled so far, in order.
  const std::vector<GroupOutcome>& groups() const { return groups_; }

 private:
  static void MarkPreempted(const std::vector<std::string>& victims,
                            std::vector<PodOutcome>& outcomes);
  PodOutcome Named(cluster::PodId pod) const;
  PodOutcome Attempt(cluster::PodId pod, framework::Cycle& cycle, bool* retry);
  bool Gated(const framework::Cycle& cycle, const cluster::Pod& pod, PodOutcome* outcome) const;
  void Place(PodOutcome* outcome);
  std::vector<PluginScore> ScoresOf(const scheduler::Attempt& attempt) const;
  bool MakeRoom(framework::Cycle& cycle, cluster::PodId pod, PodOutcome* outcome);

  // group_placement.cc: group cycles.
  cluster::NodeIndex Decide(scheduler::Attempt& attempt, const framework::NodeSet* within) override;
  void ScheduleGroup(const Entity& entity, std::vector<PodOutcome>* outcomes);
  bool GroupGated(const Entity& entity, GroupOutcome* group,
                  std::vector<PodOutcome>* outcomes) const;
  scheduler::GroupResult RunGroup(const Entity& entity, framework::Cycle& cycle,
                                  GroupOutcome* group);
  PodOutcome CommitMember(const scheduler::GroupResult& result,
                          const scheduler::MemberResult& member, framework::Cycle& cycle);
  void FindBest(const Entity& entity, const scheduler::GroupResult& result, framework::Cycle& cycle,
                GroupOutcome* group);

  World& world_;
  scheduler::ProfileSet& profiles_;
  PlacementOptions options_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
  std::vector<GroupOutcome> groups_;
  // Of the pods of the group at hand, with keep_scores.
  std::map<std::pair<cluster::PodId, cluster::NodeIndex>, std::vector<PluginScore>> member_scores_;
};

}  // namespace berth::sim

// Placement: schedules the pending pods of a World one after the other, as kube-scheduler would in
// an otherwise idle cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"
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

struct PlacementOptions {
  scheduler::AlgorithmOptions algorithm;
  bool keep_scores = false;  // Changes speed only: fill PodOutcome::scores.
};

class Placement {
 public:
  // Both outlive the placement. `profiles` were made for the world's cluster.
  Placement(World& world, scheduler::ProfileSet& profiles, const PlacementOptions& options);

  // Schedules one pod; if it fits it is placed. Preemption, if it finds victims, deletes them at
  // once and the pod is tried again.
  PodOutcome Schedule(cluster::PodId pod);

  // Schedules all pending pods in queue order. `progress` (may be empty) is called with the number
  // done.
  std::vector<PodOutcome> ScheduleAll(const std::function<void(size_t done)>& progress);

 private:
  static void MarkPreempted(std::vector<PodOutcome>& outcomes);
  PodOutcome Named(cluster::PodId pod) const;
  PodOutcome Attempt(cluster::PodId pod, framework::Cycle& cycle, bool* retry);
  bool Gated(const framework::Cycle& cycle, const cluster::Pod& pod, PodOutcome* outcome) const;
  void Place(PodOutcome* outcome);
  bool MakeRoom(framework::Cycle& cycle, cluster::PodId pod, PodOutcome* outcome);

  World& world_;
  scheduler::ProfileSet& profiles_;
  PlacementOptions options_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
};

}  // namespace berth::sim

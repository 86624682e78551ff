// Attempt: one pod on its way to a node, as a value.
//
//   Begin ─▶ Decide ─▶ Reserve ─▶ Permit ─▶ Commit
//                         └───────────┴────▶ Rollback
//
// Decide looks for a node. Reserve assumes the pod there and runs the Reserve plugins, Permit the
// Permit plugins. Commit prepares what is to be done before the pod is bound; Rollback runs
// Unreserve and takes the pod off the node; the caller does that, too, when Reserve or Permit
// fails.
//
// The engine, `simulate`, the conformance replay, the benchmarks and what-if run this code. Several
// attempts that are kept all or not at all run in one cluster::Transaction around them: its
// roll-back takes back what they changed in the cluster, their Rollback what plugins hold.
//
// An attempt is used again for the next pod (Begin), so that sets of nodes keep their memory. The
// states of plugins belong to the cycle: they are those of the pod that the cycle decided about
// last.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "cluster/cluster.h"
#include "framework/points/pre_bind.h"
#include "framework/runtime/cycle.h"
#include "scheduler/algorithm.h"

namespace berth::scheduler {

// A Permit plugin that wants the pod to wait.
struct PermitWait {
  uint8_t plugin = framework::kNoPlugin;
  int64_t timeout_ns = 0;
};

// What a PreBind plugin has to do before the pod is bound.
struct PreBindWork {
  uint8_t plugin = framework::kNoPlugin;
  std::unique_ptr<framework::PreBindTask> task;
};

// What a PreEnqueue plugin says about a pod that it keeps out of the queue.
struct EnqueueGate {
  uint8_t plugin = framework::kNoPlugin;  // kNoPlugin: none does
  framework::Status status;               // with the plugin's name

  bool Open() const { return plugin == framework::kNoPlugin; }
};

// Called after a plugin has answered.
using PreEnqueueAnswer =
    FunctionRef<void(const framework::PreEnqueuePlugin&, const framework::Status&)>;

// Runs PreEnqueue plugins until one keeps the pod out of the queue. `first` is asked before the
// others; kNoPlugin: all in order.
EnqueueGate RunPreEnqueue(const framework::Profile& profile, const cluster::Cluster& cluster,
                          const cluster::Pod& pod, uint8_t first, PreEnqueueAnswer answered);
EnqueueGate RunPreEnqueue(const framework::Profile& profile, const cluster::Cluster& cluster,
                          const cluster::Pod& pod);

// Runs Unreserve of all Reserve plugins, last one first. For a pod whose cycle is over: its plugins
// have no state any more. `done` is called with each plugin's number.
void RunUnreserve(const framework::Profile& profile, const framework::CycleContext& context,
                  cluster::NodeIndex node, FunctionRef<void(uint8_t plugin)> done);

class Attempt {
 public:
  enum class Stage : uint8_t { kNew, kDecided, kReserved, kPermitted, kCommitted, kRolledBack };

  // Starts with another pod. `cycle` is that of the pod's profile; both outlive the attempt.
  void Begin(framework::Cycle& cycle, cluster::Cluster& cluster, cluster::PodId pod);

  // Finds a node, or why there is none: see decision(). `score_always`, `within`: as
  // Algorithm::Schedule.
  Outcome Decide(Algorithm& algorithm, bool score_always = false,
                 const framework::NodeSet* within = nullptr);
  // The decision was made step by step (Algorithm::Begin to Choose) and is in decision().
  void Decided();

  // Assumes the pod on `node` and runs the Reserve plugins. A status that is not Ok names the
  // plugin; Rollback is next. REQUIRES: a decision, on this cycle and no other since.
  framework::Status Reserve(cluster::NodeIndex node);
  // Runs the Permit plugins; those that want to wait are in waits(). A status as of Reserve.
  // REQUIRES: Reserve succeeded.
  framework::Status Permit();
  // Asks the PreBind plugins for their work; the pod stays assumed. REQUIRES: Permit succeeded, or
  // Reserve did and the profile's Permit plugins are not to be run.
  void Commit();
  // Runs the Unreserve plugins, last one first; the pod is pending again, without a nomination.
  // REQUIRES: Reserve was called, and the cycle has not begun with another pod.
  void Rollback();

  Stage stage() const { return stage_; }
  cluster::PodId pod() const { return pod_; }
  framework::Cycle& cycle() const { return *cycle_; }
  cluster::NodeIndex node() const { return node_; }  // kNoNode before Reserve and after Rollback
  Decision& decision() { return decision_; }
  const Decision& decision() const { return decision_; }
  const std::vector<PermitWait>& waits() const { return waits_; }
  std::vector<PreBindWork> TakeWork() { return std::exchange(work_, {}); }

 private:
  framework::Cycle* cycle_ = nullptr;
  cluster::Cluster* cluster_ = nullptr;
  cluster::PodId pod_ = cluster::kNoPod;
  Stage stage_ = Stage::kNew;
  cluster::NodeIndex node_ = cluster::kNoNode;
  Decision decision_;
  std::vector<PermitWait> waits_;
  std::vector<PreBindWork> work_;
};

}  // namespace berth::scheduler

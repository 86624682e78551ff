// EngineObserver: callbacks from the engine, for metrics, logs, reports and explanations.
//
// The callbacks do nothing unless overridden, and decisions do not depend on them. The engine has
// no clock: an observer that measures durations reads its own clock at the beginning and the end,
// or lends it to the engine. Expensive callbacks are made on request only: CycleBegan requests
// those of a cycle, the Began callbacks those of events, hints and PreEnqueue, and ObserverWants
// those that concern every pod. What can be counted without a callback is counted by the engine and
// read there (Engine::IncomingPods, Cycle::calls).
//
// All callbacks are made on the engine's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/core/node.h"
#include "api/time.h"
#include "framework/runtime/cycle.h"
#include "queue/scheduling_queue.h"
#include "scheduler/algorithm.h"
#include "scheduler/effects.h"
#include "scheduler/groups/group_watch.h"
#include "scheduler/point_times.h"

namespace berth::framework {
struct DeviceWait;
}

namespace berth::scheduler {

class Engine;

// The callbacks an observer requests for one cycle.
struct CycleInterest {
  bool points = false;    // CycleWatch's points, AlgorithmEnded, BindingPoint…
  bool plugins = false;   // of single plugins too; all nodes are evaluated then
  bool decision = false;  // Decided
  bool scores = false;    // Decided, with the scores of all feasible nodes
};

// The callbacks an observer requests in general. The engine reads this before each of them, so the
// observer may change it at any time, on the engine's thread.
struct ObserverWants {
  bool cycles = true;     // CyclePassedOver
  bool pods = true;       // PodChanged
  bool queues = true;     // QueueIncoming, Gated
  bool scheduled = true;  // Attempted of pods that got a node; without it, of cycles with points
  bool binds = true;      // BindBegan
  // How many of the next are skipped before CycleBegan, EventBegan, HintBegan or PreEnqueueBegan is
  // called again.
  uint32_t skip_cycles = 0;
  uint32_t skip_events = 0;
  uint32_t skip_hints = 0;
  uint32_t skip_pre_enqueues = 0;
  // SlowCycle is called for cycles that take at least slow_cycle_ns by this clock. Null: never.
  int64_t (*now_ns)() = nullptr;
  int64_t slow_cycle_ns = 0;
  uint64_t cycles_begun = 0;  // so far: counted by the engine
};

// The use a cycle made of the ranking of an earlier one (OpportunisticBatching).
enum class BatchAttempt : uint8_t {
  kNoHint,
  kHintUsed,     // the pod went to the node of the hint
  kHintNotUsed,  // the node did not fit
};
inline constexpr size_t kBatchAttempts = 3;
// As in the label of batch_attempts_total: "no_hint", …
constexpr std::string_view NameOf(BatchAttempt attempt) {
  constexpr std::string_view kNames[kBatchAttempts] = {"no_hint", "hint_used", "hint_not_used"};
  return kNames[static_cast<size_t>(attempt)];
}

// Parts of a cycle that batching adds.
enum class BatchStep : uint8_t {
  kGetHint,  // checks whether the last ranking can be used
  kRescore,  // within kGetHint: the last node is scored again
  kStore,    // keeps the ranking
};

// How the cycle of a pod group ended.
enum class GroupOutcome : uint8_t { kScheduled, kUnschedulable, kWaitingOnPreemption, kError };
// As in the label of podgroup_schedule_attempts_total: "scheduled", …
constexpr std::string_view NameOf(GroupOutcome outcome) {
  constexpr std::string_view kNames[] = {"scheduled", "unschedulable", "waiting_on_preemption",
                                         "error"};
  return kNames[static_cast<size_t>(outcome)];
}

// What a preemption takes from others.
struct PreemptionSize {
  bool for_group = false;  // the preemptor is a pod group
  size_t victims = 0;
  int64_t group_disruptions = 0;  // of a group's: victims that are groups or pods of groups
  int64_t pdb_violations = 0;
};

// The kind of a change of an object.
enum class Change : uint8_t { kAdd, kUpdate, kDelete };

class EngineObserver : public framework::CycleWatch, public GroupWatch {
 public:
  EngineObserver() = default;
  EngineObserver(const EngineObserver&) = delete;
  EngineObserver& operator=(const EngineObserver&) = delete;

  ObserverWants& wants() { return *wants_; }

  // --- Called while requested by ObserverWants, or always
  // A node, or a pod with (`assigned`) or without a node, was added, changed or removed. Called
  // before the change has consequences. A pod that gets its node counts as added.
  virtual void NodeChanged(Change, const api::Node&) {}
  virtual void PodChanged(Change, const cluster::Pod&, bool /*assigned*/) {}
  // A pod has entered a queue because of `event`. `info` has the plugins of the profile that
  // rejected it.
  virtual void QueueIncoming(const cluster::Pod&, queue::QueueName, std::string_view /*event*/,
                             const queue::QueuedPod& /*info*/,
                             const framework::Profile& /*profile*/) {}
  // A plugin keeps the pod out of the active queue. Requested by `queues`.
  virtual void Gated(const cluster::Pod&, std::string_view /*plugin*/, const framework::Status&) {}
  // A pod that is being deleted was popped from the queue and is not attempted.
  virtual void Skipped(const cluster::Pod&) {}
  // A scheduling cycle begins. `profile`: its name and number.
  virtual CycleInterest CycleBegan(const cluster::Pod&, std::string_view /*profile*/,
                                   uint8_t /*profile_number*/) {
    return {};
  }
  // The same for a cycle that skip_cycles skips; there are no callbacks for its points.
  virtual CycleInterest CyclePassedOver(const cluster::Pod&) { return {}; }
  // The decision has taken long. `watched`: CycleBegan has requested points.
  virtual void SlowCycle(const cluster::Pod&, int64_t /*took_ns*/, bool /*watched*/) {}
  // A scheduling cycle is over, or a binding has failed. `node` is empty unless the outcome is
  // kScheduled.
  virtual void Attempted(const cluster::Pod&, Outcome, std::string_view /*node*/,
                         std::string_view /*message*/) {}
  // The PostFilter plugins have run.
  virtual void PostFiltered(const cluster::Pod&, const framework::Status&,
                            const framework::PostFilterResult&) {}
  // The failure of the attempt is to be written to the API server, unless its status has it
  // already. `nominated`: whether the pod's nomination is set to `node`, which may be empty.
  virtual void FailureReported(const cluster::Pod&, Outcome, bool /*nominated*/,
                               std::string_view /*node*/) {}
  // The binding is sent to the API server.
  virtual void BindBegan(const PodRef&, std::string_view /*node*/) {}
  // The API server has accepted the binding. `info`: attempts, first attempt. `watched`:
  // CycleBegan has requested the points of this pod's cycle.
  virtual void Bound(const PodRef&, std::string_view /*node*/, const queue::QueuedPod& /*info*/,
                     const api::Time& /*now*/, bool /*watched*/) {}
  virtual void Preempted(const PodRef& /*preemptor*/, size_t /*victims*/,
                         std::string_view /*node*/) {}
  // Told beside Preempted; and when all victims of one that has any were asked to go, or one could
  // not be.
  virtual void VictimsChosen(const PodRef& /*preemptor*/, const PreemptionSize&) {}
  virtual void PreemptionExecuted(const PodRef& /*preemptor*/, bool /*for_group*/,
                                  bool /*success*/) {}
  // The deletion of a victim was sent, or its binding was cancelled.
  virtual void VictimPreempted(const PodRef& /*preemptor*/, const PodRef& /*victim*/,
                               std::string_view /*node*/) {}
  // Deleting the victims begins, while other pods are attempted; it ends when all requests were
  // answered, or one has failed. With async preemption only.
  virtual void PreemptionBegan(const PodRef& /*preemptor*/, size_t /*victims*/,
                               std::string_view /*node*/) {}
  virtual void PreemptionEnded(const PodRef& /*preemptor*/, std::string_view /*node*/,
                               bool /*success*/) {}
  // The cycle of a pod group begins; starts over with the answer of an extender, which discards the
  // calls of GroupWatch so far; ends. For a group that is rejected before its cycle, GroupBegan is
  // the only call. `may_start_over`: extenders are called for one of its pods.
  virtual void GroupBegan(std::string_view /*profile*/, bool /*may_start_over*/) {}
  virtual void GroupStartedOver() {}
  virtual void GroupAttempted(GroupOutcome) {}
  // OpportunisticBatching: the use a cycle made of its hint; the ranking is dropped, with the
  // reason as in the label of batch_cache_flushed_total; the last node is scored again.
  virtual void BatchAttempted(std::string_view /*profile*/, BatchAttempt) {}
  virtual void BatchFlushed(std::string_view /*profile*/, std::string_view /*reason*/) {}
  virtual void BatchRescored(std::string_view /*profile*/) {}
  // A pod waits for Permit; it no longer does.
  virtual void PermitWaits(const PodRef&) {}
  virtual void PermitWaited(framework::Code, int64_t /*waited_ns*/) {}
  // The ResourceClaim for a pod's extended resources was created, or the API server refused it.
  virtual void ClaimCreated(bool /*created*/) {}
  // A pod no longer waits for the binding conditions of its devices.
  virtual void DevicesAwaited(std::string_view /*profile*/, const framework::DeviceWait&) {}
  // A plugin failed with an error at Filter, Reserve, Permit, PreBind or Bind. `node` is empty at
  // Filter.
  virtual void PluginFailed(const PodRef&, framework::Point, std::string_view /*plugin*/,
                            std::string_view /*node*/, std::string_view /*error*/) {}

  // --- Called when CycleBegan requested it
  // The algorithm is done; `cycle` has verdicts and scores. Before PostFilter.
  virtual void Decided(const cluster::Pod&, const Decision&, const framework::Cycle&) {}
  // A node was chosen, or none and PostFilter has run.
  virtual void AlgorithmEnded() {}
  // A step of batching, within the cycle. `hinted`: kGetHint has found a node.
  virtual void BatchStepBegan(BatchStep) {}
  virtual void BatchStepEnded(std::string_view /*profile*/, BatchStep, bool /*hinted*/) {}
  // PreBindPreFlight, PreBind, Bind, PostBind or Unreserve of a pod whose cycle is over.
  virtual void BindingPointBegan(const PodRef&, framework::Point) {}
  // One plugin of it. It began when the point did, or when the plugin before it ended.
  virtual void BindingPluginEnded(const PodRef&, framework::Point, std::string_view /*plugin*/,
                                  framework::Code) {}
  virtual void BindingPointEnded(const PodRef&, framework::Point, framework::Code) {}

  // --- Called when CycleBegan requested points
  // The durations of the current cycle's points so far, for the record of its decision. Null: they
  // were not measured.
  virtual const PointTimes* CycleTimes() { return nullptr; }
  // The same for the points of a pod's binding.
  virtual const PointTimes* BindingTimes(const PodRef&) { return nullptr; }

  // --- Each Began returns whether to call its Ended
  virtual bool HintBegan() { return false; }
  virtual void HintEnded(std::string_view /*plugin*/, std::string_view /*event*/,
                         std::string_view /*hint*/) {}
  virtual bool EventBegan() { return false; }
  // The change of an object was processed. Called once per change: a node's update may be one of
  // its labels and of its taints. `event` is empty if the change caused none.
  virtual void EventEnded(std::string_view /*event*/) {}
  virtual bool PreEnqueueBegan() { return false; }
  // One plugin. It began at PreEnqueueBegan, or when the plugin before it ended.
  virtual void PreEnqueueAsked(std::string_view /*plugin*/, framework::Code) {}
  virtual void PreEnqueueEnded(std::string_view /*profile*/, framework::Code) {}

  // --- Called by the engine's host
  // Another engine takes the place of this one, which makes no more callbacks.
  virtual void Replaced(const Engine& /*old*/, const Engine& /*next*/) {}

 protected:
  // For an observer that forwards callbacks to the owner of `shared`: requests what that requests.
  explicit EngineObserver(ObserverWants& shared) : wants_(&shared) {}

 private:
  ObserverWants own_;
  ObserverWants* wants_ = &own_;
};

}  // namespace berth::scheduler

// EngineObserver: told what the engine does, for metrics, logs, reports and explanations.
//
// Does nothing unless overridden, and changes nothing: the engine decides the same with and without
// one. The engine has no clock, so an observer that wants durations reads its own when something
// begins and when it ends, or lends it to the engine. What would cost something to tell is told
// only to an observer that wants it: per cycle in CycleBegan, for events, hints and PreEnqueue in
// their Began calls; and what happens to every pod only while ObserverWants says so. What can be
// counted without a call is counted by the engine and read there (Engine::IncomingPods,
// Cycle::calls).
#pragma once

#include <cstdint>
#include <string_view>

#include "api/core/node.h"
#include "api/time.h"
#include "framework/runtime/cycle.h"
#include "queue/scheduling_queue.h"
#include "scheduler/algorithm.h"
#include "scheduler/effects.h"
#include "scheduler/point_times.h"

namespace berth::scheduler {

class Engine;

// What an observer wants to be told of a cycle.
struct CycleInterest {
  bool points = false;    // CycleWatch's points, AlgorithmEnded, BindingPoint…
  bool plugins = false;   // single plugins too; all nodes are looked at then
  bool decision = false;  // Decided
  bool scores = false;    // Decided, with the scores of all feasible nodes
};

// What an observer wants to be told in general. The engine looks here before each call, so the
// observer may change it at any time, on the engine's thread.
struct ObserverWants {
  bool cycles = true;     // CyclePassedOver
  bool pods = true;       // PodChanged
  bool queues = true;     // QueueIncoming, Gated
  bool scheduled = true;  // Attempted of pods that got a node; without it, of cycles with points
  bool binds = true;      // BindBegan
  // How many of the next are passed over before the observer is asked by CycleBegan, EventBegan,
  // HintBegan or PreEnqueueBegan again.
  uint32_t skip_cycles = 0;
  uint32_t skip_events = 0;
  uint32_t skip_hints = 0;
  uint32_t skip_pre_enqueues = 0;
  // Cycles that take so long by this clock are told by SlowCycle. Null: none are.
  int64_t (*now_ns)() = nullptr;
  int64_t slow_cycle_ns = 0;
  uint64_t cycles_begun = 0;  // so far: counted by the engine
};

// What a cycle got from the ranking that an earlier one left (OpportunisticBatching).
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
  kGetHint,  // looks whether the last ranking can be used
  kRescore,  // within kGetHint: the last node is scored again
  kStore,    // keeps the ranking
};

// What became of an object in the cluster.
enum class Change : uint8_t { kAdd, kUpdate, kDelete };

class EngineObserver : public framework::CycleWatch {
 public:
  EngineObserver() = default;
  EngineObserver(const EngineObserver&) = delete;
  EngineObserver& operator=(const EngineObserver&) = delete;

  ObserverWants& wants() { return *wants_; }

  // --- Told while it is wanted (ObserverWants), or always
  // A node, or a pod with (`assigned`) or without a node, was added, changed or removed: told
  // before anything comes of it. A pod that gets its node is an added one.
  virtual void NodeChanged(Change, const api::Node&) {}
  virtual void PodChanged(Change, const cluster::Pod&, bool /*assigned*/) {}
  // A pod has come into a queue, and why. `info`: by which plugins of the profile it was rejected.
  virtual void QueueIncoming(const cluster::Pod&, queue::QueueName, std::string_view /*event*/,
                             const queue::QueuedPod& /*info*/,
                             const framework::Profile& /*profile*/) {}
  // A plugin keeps the pod from being queued, and why. Told with `queues`.
  virtual void Gated(const cluster::Pod&, std::string_view /*plugin*/, const framework::Status&) {}
  // A pod that is being deleted was taken from the queue, and is not tried.
  virtual void Skipped(const cluster::Pod&) {}
  // A scheduling cycle begins. `profile`: its name and number.
  virtual CycleInterest CycleBegan(const cluster::Pod&, std::string_view /*profile*/,
                                   uint8_t /*profile_number*/) {
    return {};
  }
  // The same of one that skip_cycles passes over; its points are not told.
  virtual CycleInterest CyclePassedOver(const cluster::Pod&) { return {}; }
  // The decision has taken long. `watched`: CycleBegan has asked for points.
  virtual void SlowCycle(const cluster::Pod&, int64_t /*took_ns*/, bool /*watched*/) {}
  // A scheduling cycle is over, or a binding has failed. `node` is empty unless the outcome is
  // kScheduled.
  virtual void Attempted(const cluster::Pod&, Outcome, std::string_view /*node*/,
                         std::string_view /*message*/) {}
  // The PostFilter plugins were asked for room: what they said.
  virtual void PostFiltered(const cluster::Pod&, const framework::Status&,
                            const framework::PostFilterResult&) {}
  // The API server is to be told that the attempt has failed; nothing is sent if it knows.
  // `nominated`: whether the pod's nomination is set to `node`, which may be empty.
  virtual void FailureReported(const cluster::Pod&, Outcome, bool /*nominated*/,
                               std::string_view /*node*/) {}
  // The API server is asked to bind the pod.
  virtual void BindBegan(const PodRef&, std::string_view /*node*/) {}
  // The API server has taken the binding. `info`: attempts, first attempt. `watched`: CycleBegan
  // has asked for the points of this pod's cycle.
  virtual void Bound(const PodRef&, std::string_view /*node*/, const queue::QueuedPod& /*info*/,
                     const api::Time& /*now*/, bool /*watched*/) {}
  virtual void Preempted(const PodRef& /*preemptor*/, size_t /*victims*/,
                         std::string_view /*node*/) {}
  // A victim is on its way.
  virtual void VictimPreempted(const PodRef& /*preemptor*/, const PodRef& /*victim*/,
                               std::string_view /*node*/) {}
  // The victims are asked to go while other pods are tried; they are on their way, or one could not
  // be asked. With async preemption only.
  virtual void PreemptionBegan(const PodRef& /*preemptor*/, size_t /*victims*/,
                               std::string_view /*node*/) {}
  virtual void PreemptionEnded(const PodRef& /*preemptor*/, std::string_view /*node*/,
                               bool /*success*/) {}
  // OpportunisticBatching: what came of a cycle's hint; the kept ranking is of no use, with the
  // reason as in the label of batch_cache_flushed_total; the last node is scored again.
  virtual void BatchAttempted(std::string_view /*profile*/, BatchAttempt) {}
  virtual void BatchFlushed(std::string_view /*profile*/, std::string_view /*reason*/) {}
  virtual void BatchRescored(std::string_view /*profile*/) {}
  // A pod waits for Permit; it no longer does.
  virtual void PermitWaits(const PodRef&) {}
  virtual void PermitWaited(framework::Code, int64_t /*waited_ns*/) {}
  // A plugin failed with an error at Filter, Reserve, Permit, PreBind or Bind. `node` is empty at
  // Filter.
  virtual void PluginFailed(const PodRef&, framework::Point, std::string_view /*plugin*/,
                            std::string_view /*node*/, std::string_view /*error*/) {}

  // --- Told when CycleBegan asked for it
  // The algorithm is done; `cycle` has verdicts and scores. Before PostFilter.
  virtual void Decided(const cluster::Pod&, const Decision&, const framework::Cycle&) {}
  // A node was chosen, or none and PostFilter has run.
  virtual void AlgorithmEnded() {}
  // A step of batching, within the cycle. `hinted`: kGetHint has found a node.
  virtual void BatchStepBegan(BatchStep) {}
  virtual void BatchStepEnded(std::string_view /*profile*/, BatchStep, bool /*hinted*/) {}
  // PreBindPreFlight, PreBind, Bind, PostBind or Unreserve of a pod whose cycle is over.
  virtual void BindingPointBegan(const PodRef&, framework::Point) {}
  // One plugin of it, since the point began or the plugin before has answered.
  virtual void BindingPluginEnded(const PodRef&, framework::Point, std::string_view /*plugin*/,
                                  framework::Code) {}
  virtual void BindingPointEnded(const PodRef&, framework::Point, framework::Code) {}

  // --- Asked when CycleBegan asked for points
  // How long those of the cycle that runs took so far, for the record of its decision. Null: nobody
  // has timed them.
  virtual const PointTimes* CycleTimes() { return nullptr; }
  // The same of the points since, of a pod that is being bound.
  virtual const PointTimes* BindingTimes(const PodRef&) { return nullptr; }

  // --- Each Began says whether to call its Ended
  virtual bool HintBegan() { return false; }
  virtual void HintEnded(std::string_view /*plugin*/, std::string_view /*event*/,
                         std::string_view /*hint*/) {}
  virtual bool EventBegan() { return false; }
  // An object's change has been taken up. Called once for everything it means: a node's update may
  // be of its labels and of its taints. `event` is empty if it was of no interest.
  virtual void EventEnded(std::string_view /*event*/) {}
  virtual bool PreEnqueueBegan() { return false; }
  // One plugin, since PreEnqueueBegan or the plugin before has answered.
  virtual void PreEnqueueAsked(std::string_view /*plugin*/, framework::Code) {}
  virtual void PreEnqueueEnded(std::string_view /*profile*/, framework::Code) {}

  // --- Told by the engine's host
  // Another engine takes the place of this one, of which nothing more will be told.
  virtual void Replaced(const Engine& /*old*/, const Engine& /*next*/) {}

 protected:
  // Wants what the owner of `shared` does, to whom it passes calls on.
  explicit EngineObserver(ObserverWants& shared) : wants_(&shared) {}

 private:
  ObserverWants own_;
  ObserverWants* wants_ = &own_;
};

}  // namespace berth::scheduler

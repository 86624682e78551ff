// DecisionLog: what the engine does, as the lines operators know from kube-scheduler.
//
//   -v=2   a pod was bound, found no node, asked for preemption; nodes come and go
//   -v=3   attempts, bindings, pods come and go, pods that go back to a queue after an attempt
//   -v=4   pods and nodes change, pods that an event moves or that wait for Permit
//   -v=5   all moves between queues, what PostFilter plugins said
//   -v=10  the scores of every node
//
// The same messages and keys as kube-scheduler's, at the same levels.
//
// A cycle that took 100 ms or longer is logged at any verbosity, with its steps if they were timed;
// the next one is. Nothing is put together for a line that is not printed, and below -v=2 the
// engine does not tell what only lines would come of. Everything is passed on to the metrics. On
// the engine's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/string_hash.h"
#include "config/behaviour.h"
#include "scheduler/observer.h"
#include "server/metrics/scheduler_metrics.h"

namespace berth::cli::scheduler {

class DecisionLog final : public berth::scheduler::EngineObserver {
 public:
  using Pod = cluster::Pod;
  using PodRef = berth::scheduler::PodRef;
  using Point = framework::Point;
  using Code = framework::Code;

  static constexpr int64_t kSlowCycleNs = 100'000'000;

  // `now_ns` null: a clock that costs little and ticks every few milliseconds.
  explicit DecisionLog(server::SchedulerMetrics& metrics, int64_t (*now_ns)() = nullptr);

  // Lines are those of that minor from now on.
  void Follow(const config::Behaviour& behaviour);
  // Cycles of 100 ms and more are counted there, by the pod's namespace.
  void CountSlowCycles(server::CounterFamily& cycles) { slow_cycles_ = &cycles; }
  // To be called when the log's verbosity has changed.
  void FollowVerbosity();

  void NodeChanged(berth::scheduler::Change change, const api::Node& node) override;
  void PodChanged(berth::scheduler::Change change, const Pod& pod, bool assigned) override;
  void QueueIncoming(const Pod& pod, queue::QueueName queue, std::string_view event,
                     const queue::QueuedPod& info, const framework::Profile& profile) override;
  void Skipped(const Pod& pod) override;
  berth::scheduler::CycleInterest CycleBegan(const Pod& pod, std::string_view profile,
                                             uint8_t profile_number) override;
  berth::scheduler::CycleInterest CyclePassedOver(const Pod& pod) override;
  void SlowCycle(const Pod& pod, int64_t took_ns, bool watched) override;
  void Decided(const Pod& pod, const berth::scheduler::Decision& decision,
               const framework::Cycle& cycle) override;
  void Attempted(const Pod& pod, berth::scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void PostFiltered(const Pod& pod, const framework::Status& status,
                    const framework::PostFilterResult& result) override;
  void FailureReported(const Pod& pod, berth::scheduler::Outcome outcome, bool nominated,
                       std::string_view node) override;
  void BindBegan(const PodRef& pod, std::string_view node) override;
  void Bound(const PodRef& pod, std::string_view node, const queue::QueuedPod& info,
             const api::Time& now, bool watched) override;
  void VictimPreempted(const PodRef& preemptor, const PodRef& victim,
                       std::string_view node) override;
  void PreemptionBegan(const PodRef& preemptor, size_t victims, std::string_view node) override;
  void PreemptionEnded(const PodRef& preemptor, std::string_view node, bool success) override;
  void PermitWaits(const PodRef& pod) override;

  // --- Only passed on
  const berth::scheduler::PointTimes* CycleTimes() override { return metrics_.CycleTimes(); }
  const berth::scheduler::PointTimes* BindingTimes(const PodRef& pod) override {
    return metrics_.BindingTimes(pod);
  }
  void Preempted(const PodRef& preemptor, size_t victims, std::string_view node) override {
    metrics_.Preempted(preemptor, victims, node);
  }
  void VictimsChosen(const PodRef& preemptor,
                     const berth::scheduler::PreemptionSize& size) override {
    metrics_.VictimsChosen(preemptor, size);
  }
  void PreemptionExecuted(const PodRef& preemptor, bool for_group, bool success) override {
    metrics_.PreemptionExecuted(preemptor, for_group, success);
  }
  void GroupBegan(std::string_view profile, bool may_start_over) override {
    metrics_.GroupBegan(profile, may_start_over);
  }
  void GroupStartedOver() override { metrics_.GroupStartedOver(); }
  void GroupAttempted(berth::scheduler::GroupOutcome outcome) override {
    metrics_.GroupAttempted(outcome);
  }
  void GroupPointBegan(berth::scheduler::GroupPoint point) override {
    metrics_.GroupPointBegan(point);
  }
  void GroupPointEnded(berth::scheduler::GroupPoint point, Code code) override {
    metrics_.GroupPointEnded(point, code);
  }
  void GroupPluginBegan(berth::scheduler::GroupPoint point) override {
    metrics_.GroupPluginBegan(point);
  }
  void GroupPluginEnded(berth::scheduler::GroupPoint point, std::string_view plugin,
                        Code code) override {
    metrics_.GroupPluginEnded(point, plugin, code);
  }
  void GroupAlgorithmEnded() override { metrics_.GroupAlgorithmEnded(); }
  void PlacementsGenerated(size_t count) override { metrics_.PlacementsGenerated(count); }
  void PlacementBegan() override { metrics_.PlacementBegan(); }
  void PlacementTried(bool feasible) override { metrics_.PlacementTried(feasible); }
  void GroupPreemptionTried(Code code, bool searched) override {
    metrics_.GroupPreemptionTried(code, searched);
  }
  void PermitWaited(Code code, int64_t waited_ns) override {
    metrics_.PermitWaited(code, waited_ns);
  }
  void BatchAttempted(std::string_view profile, berth::scheduler::BatchAttempt attempt) override {
    metrics_.BatchAttempted(profile, attempt);
  }
  void BatchFlushed(std::string_view profile, std::string_view reason) override {
    metrics_.BatchFlushed(profile, reason);
  }
  void BatchRescored(std::string_view profile) override { metrics_.BatchRescored(profile); }
  void BatchStepBegan(berth::scheduler::BatchStep step) override { metrics_.BatchStepBegan(step); }
  void BatchStepEnded(std::string_view profile, berth::scheduler::BatchStep step,
                      bool hinted) override {
    metrics_.BatchStepEnded(profile, step, hinted);
  }
  void ClaimCreated(bool created) override { metrics_.ClaimCreated(created); }
  void DevicesAwaited(std::string_view profile, const framework::DeviceWait& wait) override {
    metrics_.DevicesAwaited(profile, wait);
  }
  void PluginFailed(const PodRef& pod, Point point, std::string_view plugin, std::string_view node,
                    std::string_view error) override;
  void Gated(const Pod& pod, std::string_view plugin, const framework::Status& status) override;
  void AlgorithmEnded() override { metrics_.AlgorithmEnded(); }
  void PointBegan(Point point) override { metrics_.PointBegan(point); }
  void PointEnded(Point point, Code code) override { metrics_.PointEnded(point, code); }
  void StartedOver() override { metrics_.StartedOver(); }
  void PluginBegan() override { metrics_.PluginBegan(); }
  void PluginEnded(Point point, std::string_view plugin, Code code) override {
    metrics_.PluginEnded(point, plugin, code);
  }
  void BindingPointBegan(const PodRef& pod, Point point) override {
    metrics_.BindingPointBegan(pod, point);
  }
  void BindingPluginEnded(const PodRef& pod, Point point, std::string_view plugin,
                          Code code) override {
    metrics_.BindingPluginEnded(pod, point, plugin, code);
  }
  void BindingPointEnded(const PodRef& pod, Point point, Code code) override {
    metrics_.BindingPointEnded(pod, point, code);
  }
  bool HintBegan() override { return metrics_.HintBegan(); }
  void HintEnded(std::string_view plugin, std::string_view event, std::string_view hint) override {
    metrics_.HintEnded(plugin, event, hint);
  }
  bool EventBegan() override { return metrics_.EventBegan(); }
  void EventEnded(std::string_view event) override { metrics_.EventEnded(event); }
  bool PreEnqueueBegan() override { return metrics_.PreEnqueueBegan(); }
  void PreEnqueueAsked(std::string_view plugin, Code code) override {
    metrics_.PreEnqueueAsked(plugin, code);
  }
  void PreEnqueueEnded(std::string_view profile, Code code) override {
    metrics_.PreEnqueueEnded(profile, code);
  }
  void Replaced(const berth::scheduler::Engine& old,
                const berth::scheduler::Engine& next) override {
    metrics_.Replaced(old, next);
  }

 private:
  struct Nodes {
    size_t evaluated = 0;
    size_t feasible = 0;
  };
  void LogMove(const Pod& pod, queue::QueueName queue, std::string_view event,
               const queue::QueuedPod& info, const framework::Profile& profile);
  void LogScores(const Pod& pod, const berth::scheduler::Decision& decision,
                 const framework::Cycle& cycle) const;
  // What is wanted of a cycle for its lines.
  berth::scheduler::CycleInterest LogAttempt(const Pod& pod) const;
  [[gnu::noinline]] void CountAndLogBound(const PodRef& pod, std::string_view node,
                                          const queue::QueuedPod& info, const api::Time& now,
                                          bool watched);
  void LogBound(const PodRef& pod, std::string_view node);

  server::SchedulerMetrics& metrics_;
  server::CounterFamily* slow_cycles_ = nullptr;
  bool verbose_ = false;     // -v=2 or more
  bool pod_first_ = false;   // MinorRules::log_has_pod_of_cycle_first
  ByString<Nodes> decided_;  // of pods that are being bound, by uid
};

}  // namespace berth::cli::scheduler

// SchedulerMetrics: kube-scheduler's own metrics, fed by the engine.
//
// Names, help texts, labels and buckets are kube-scheduler's. All hooks are called on the engine's
// thread, which alone changes these series; the serving thread reads them.
//
// The clock is read here, never in the core. Two readings for every step of every cycle would cost
// more than the steps, so the first kTimedCycles cycles after each scrape are timed one by one,
// then every kSampling-th, which counts for kSampling. In a cluster that binds a few pods a second
// every duration is exact; in one that binds thousands the counts of durations are estimates.
// Counters (attempts, incoming pods, evaluations) are always exact; what the engine counts itself
// is read at a scrape. Of the cycles that are timed one by one, one in ten times single plugins, as
// in kube-scheduler; such a cycle scans all nodes, so after the first kTimedPlugins of them only
// every kPluginsThinning-th, which counts for kPluginsThinning.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/points/status.h"
#include "queue/group_table.h"
#include "scheduler/engine.h"
#include "server/metrics/group_metrics.h"
#include "server/metrics/registry.h"
#include "server/metrics/scheduler_families.h"
#include "server/metrics/series_cache.h"

namespace berth::server {

struct SchedulerMetricsOptions {
  std::vector<std::string> profiles = {"default-scheduler"};
  config::Behaviour behaviour = {};
  int64_t (*now_ns)() = nullptr;  // null: the steady clock
};

// More than twenty fields: nearly all are the families of kube-scheduler's table, a field each, so
// that a hook reaches its series without a look-up.
class SchedulerMetrics final : public scheduler::EngineObserver {
 public:
  static constexpr uint32_t kTimedCycles = 1024;
  static constexpr uint32_t kSampling = 64;
  static constexpr uint32_t kPluginsSampling = 10;
  static constexpr uint32_t kTimedPlugins = 16;
  static constexpr uint32_t kPluginsThinning = 16;

  // `registry` outlives the metrics.
  SchedulerMetrics(Registry& registry, const SchedulerMetricsOptions& options);

  // From now on the metrics are those of another release, or of other gates. Values stay. On the
  // engine's thread.
  void Follow(const config::Behaviour& behaviour);

  // --- EngineObserver
  scheduler::CycleInterest CycleBegan(const cluster::Pod& pod, std::string_view profile,
                                      uint8_t profile_number) override;
  void AlgorithmEnded() override;
  void Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view,
                 std::string_view) override {
    // A pod counts as scheduled only once it is bound.
    if (outcome == scheduler::Outcome::kScheduled && cycle_.weight == 0) return;
    CountAttempted(pod, outcome);
  }
  void Bound(const scheduler::PodRef& pod, std::string_view, const queue::QueuedPod& info,
             const api::Time& now, bool watched) override {
    if (watched || !CountedAsBefore(info, now)) CountBound(pod, info, now, watched);
  }
  // Counts a bound pod whose cycle was not timed. False, without counting: its series differ from
  // the previous pod's.
  bool CountedAsBefore(const queue::QueuedPod& info, const api::Time& now) {
    Counter* const scheduled = scheduled_[info.profile];
    if (scheduled == nullptr || !info.initial_attempt || info.was_flushed) return false;
    if (static_cast<uint32_t>(info.attempts) >= sli_by_attempts_.size()) return false;
    Histogram* const sli = sli_by_attempts_[static_cast<uint32_t>(info.attempts)];
    const double waited = Waited(info, now);
    if (sli == nullptr || !sli->OwnFits(waited) || !pod_attempts_->OwnFits(info.attempts)) {
      return false;
    }
    scheduled->OwnAdd();
    pod_attempts_->OwnObserveFitting(info.attempts);
    sli->OwnObserveFitting(waited);
    return true;
  }
  void VictimsChosen(const scheduler::PodRef& preemptor,
                     const scheduler::PreemptionSize& size) override;
  void PreemptionExecuted(const scheduler::PodRef& preemptor, bool for_group,
                          bool success) override;
  void PreemptionEnded(const scheduler::PodRef& preemptor, std::string_view node,
                       bool success) override;
  void BatchAttempted(std::string_view profile, scheduler::BatchAttempt attempt) override {
    batch_attempts_.Of({profile, scheduler::NameOf(attempt)}).OwnAdd();
  }
  void BatchFlushed(std::string_view profile, std::string_view reason) override {
    batch_flushed_.Of({profile, reason}).OwnAdd();
  }
  void BatchRescored(std::string_view profile) override { batch_rescored_.Of({profile}).OwnAdd(); }
  void BatchStepBegan(scheduler::BatchStep step) override;
  void BatchStepEnded(std::string_view profile, scheduler::BatchStep step, bool hinted) override;
  void PermitWaited(framework::Code code, int64_t waited_ns) override;
  void ClaimCreated(bool created) override;
  void DevicesAwaited(std::string_view profile, const framework::DeviceWait& wait) override;
  void PluginFailed(const scheduler::PodRef& pod, framework::Point point, std::string_view plugin,
                    std::string_view node, std::string_view error) override;

  void GroupBegan(std::string_view profile, bool may_start_over) override {
    groups_.Began(profile, may_start_over);
  }
  void GroupStartedOver() override { groups_.StartedOver(); }
  void GroupAttempted(scheduler::GroupOutcome outcome) override { groups_.Attempted(outcome); }
  void GroupPointBegan(scheduler::GroupPoint point) override { groups_.PointBegan(point); }
  void GroupPointEnded(scheduler::GroupPoint point, framework::Code code) override {
    groups_.PointEnded(point, code);
  }
  void GroupPluginBegan(scheduler::GroupPoint point) override { groups_.PluginBegan(point); }
  void GroupPluginEnded(scheduler::GroupPoint point, std::string_view plugin,
                        framework::Code code) override {
    groups_.PluginEnded(point, plugin, code);
  }
  void GroupAlgorithmEnded() override { groups_.AlgorithmEnded(); }
  void PlacementsGenerated(size_t count) override { groups_.PlacementsGenerated(count); }
  void PlacementBegan() override { groups_.PlacementBegan(); }
  void PlacementTried(bool feasible) override { groups_.PlacementTried(feasible); }
  void GroupPreemptionTried(framework::Code code, bool searched) override {
    groups_.PreemptionTried(code, searched);
  }

  void PointBegan(framework::Point point) override;
  void PointEnded(framework::Point point, framework::Code code) override;
  void StartedOver() override;
  void PluginBegan() override;
  void PluginEnded(framework::Point point, std::string_view plugin, framework::Code code) override;
  void BindingPointBegan(const scheduler::PodRef& pod, framework::Point point) override;
  void BindingPluginEnded(const scheduler::PodRef& pod, framework::Point point,
                          std::string_view plugin, framework::Code code) override;
  void BindingPointEnded(const scheduler::PodRef& pod, framework::Point point,
                         framework::Code code) override;

  const scheduler::PointTimes* CycleTimes() override;
  const scheduler::PointTimes* BindingTimes(const scheduler::PodRef& pod) override;

  bool HintBegan() override { return Begin(hint_, wants().skip_hints); }
  void HintEnded(std::string_view plugin, std::string_view event, std::string_view hint) override;
  bool EventBegan() override { return Begin(event_, wants().skip_events); }
  void EventEnded(std::string_view event) override;
  bool PreEnqueueBegan() override;
  void PreEnqueueAsked(std::string_view plugin, framework::Code code) override;
  void PreEnqueueEnded(std::string_view profile, framework::Code code) override;
  void Replaced(const scheduler::Engine& old, const scheduler::Engine& next) override;

  // The points of the last cycle that was timed.
  struct Step {
    framework::Point point;
    framework::Code code;
    int64_t took_ns;
  };
  const std::vector<Step>& Steps() const { return steps_; }
  // Times the next cycle, out of turn.
  void TimeNextCycle();

  // --- At a scrape, on the engine's thread Updates the values that are read from the engine, and
  // starts a new round of timed cycles.
  void Refresh(const scheduler::Engine& engine);

 private:
  struct Timer {
    int64_t began_ns = 0;
    uint32_t weight = 0;  // 0: not timed
  };
  // A sequence of similar operations, some of which are timed.
  struct Sample {
    Timer last;
    uint32_t seen = 0;  // since the last scrape, of the first kTimedCycles
  };
  // A timed cycle whose pod is being bound.
  struct Bind {
    Timer cycle;
    int64_t point_began_ns = 0;
    int64_t plugin_began_ns = 0;
    uint8_t profile = 0;
    uint32_t plugins_weight = 0;
    scheduler::PointTimes times = {};
  };

  int64_t Now() const { return now_ns_(); }
  double Since(int64_t began_ns) const { return static_cast<double>(Now() - began_ns) * 1e-9; }
  void CountAttempt(std::string_view result, std::string_view profile, const Timer& timer);
  void CountAttempted(const cluster::Pod& pod, scheduler::Outcome outcome);
  void CountBound(const scheduler::PodRef& pod, const queue::QueuedPod& info, const api::Time& now,
                  bool watched);
  // A timed cycle's pod is bound.
  void TimeBound(const scheduler::PodRef& pod, uint8_t profile);
  static double Waited(const queue::QueuedPod& info, const api::Time& now) {
    const int64_t ns = now.UnixNano() - info.initial_attempt->UnixNano();
    return static_cast<double>(std::max<int64_t>(ns, 0)) * 1e-9;
  }
  Histogram& SliOf(int32_t attempts);
  // After a reload, a profile of that number may have a new name.
  void Rename(uint8_t number, std::string_view name);
  Bind* FindBind(const std::string& uid);
  void EraseBind(const std::string& uid);
  void ForgetOld();
  // Counts the points of the cycle that is over.
  void FlushSteps();
  Histogram& PointSeries(framework::Point point, framework::Code code, uint8_t profile);
  bool Begin(Sample& sample, uint32_t& skip) {
    sample.last.weight = NextWeight(sample.seen, skip);
    sample.last.began_ns = Now();
    return true;
  }
  std::string_view ProfileName(uint8_t number) const;
  void RefreshQueues(const scheduler::Engine& engine);
  void RefreshUnschedulable(const scheduler::Engine& engine);
  void RefreshInflight(const queue::SchedulingQueue& queue);
  void RefreshCalls(const scheduler::Engine& engine);
  void RefreshIncoming(const scheduler::Engine& engine);
  void CountEntities(queue::QueueName to, std::string_view event, std::string_view type,
                     uint64_t count, bool counted);
  queue::GroupMoves& GroupsBefore(std::string_view event);
  void NameEvaluations(const framework::Profile& profile);
  void CountCalls(const framework::Cycle& cycle, std::vector<framework::PluginCalls>& before);
  // An operation of a sequence is timed: its weight, and how many of the next to skip.
  static uint32_t NextWeight(uint32_t& seen, uint32_t& skip) {
    if (seen++ < kTimedCycles) return 1;
    seen = kTimedCycles;
    skip = kSampling - 1;
    return kSampling;
  }
  uint32_t NextPluginsWeight();

  // The label "type" of entities in queues.
  static constexpr std::string_view kPodEntity = "pod";
  static constexpr std::string_view kGroupEntity = "podgroup";

  int64_t (*now_ns_)();
  SchedulerFamilies families_;
  bool observes_zero_victims_ = true;

  Gauge* pending_[queue::kQueueNames] = {};
  // Of queues that had such entities: pods, groups.
  std::array<std::array<Gauge*, 2>, queue::kQueueNames> queued_ = {};
  Gauge* incomplete_ = nullptr;  // pods of groups, in releases that count entities
  Gauge* waits_for_attempt_ = nullptr;
  Gauge* cache_assumed_;
  Gauge* cache_pods_;
  Gauge* cache_nodes_;
  Gauge* binding_;
  Counter* preemption_attempts_;
  Counter* after_flush_;
  Histogram* preemption_victims_;
  Histogram* algorithm_duration_;
  Histogram* pod_attempts_;
  SeriesCache<Counter> attempts_;               // result, profile
  SeriesCache<Histogram> attempt_duration_;     // result, profile
  SeriesCache<Histogram> sli_duration_;         // attempts
  SeriesCache<Counter> incoming_;               // queue, event
  SeriesCache<Counter> incoming_entities_;      // queue, event, type
  SeriesCache<Histogram> point_duration_;       // extension_point, status, profile
  SeriesCache<Histogram> plugin_duration_;      // plugin, extension_point, status
  SeriesCache<Counter> evaluations_;            // plugin, extension_point, profile
  SeriesCache<Histogram> event_duration_;       // event
  SeriesCache<Histogram> hint_duration_;        // plugin, event, hint
  SeriesCache<Histogram> permit_wait_;          // result
  SeriesCache<Gauge> unschedulable_;            // plugin, profile
  SeriesCache<Gauge> inflight_;                 // event
  SeriesCache<Histogram> preemption_duration_;  // result
  SeriesCache<Counter> preemption_total_;       // result
  SeriesCache<Counter> volume_errors_;          // operation
  SeriesCache<Counter> batch_attempts_;         // profile, result
  SeriesCache<Counter> batch_flushed_;          // profile, reason
  SeriesCache<Counter> batch_rescored_;         // profile
  SeriesCache<Histogram> batch_hint_;           // hinted, profile
  SeriesCache<Histogram> batch_rescore_;        // profile
  SeriesCache<Histogram> batch_store_;          // profile
  GroupMetrics groups_;

  // Series that every pod uses, resolved without labels.
  std::array<Histogram*, 15> sli_by_attempts_ = {};  // of sli_duration_, for few attempts
  std::array<Counter*, 256> scheduled_ = {};         // of attempts_, by profile
  std::vector<Histogram*> points_by_code_;  // of point_duration_, by profile, point and code

  std::vector<std::string> profiles_;  // names, by number
  // Of the last timed cycle
  uint8_t profile_ = 0;
  cluster::PodId pod_ = cluster::kNoPod;
  uint32_t cycles_ = 0;  // since the last scrape, of the first kTimedCycles
  uint32_t timed_cycles_ = 0;
  bool out_of_turn_ = false;     // the next cycle is timed on request
  uint32_t skip_after_it_ = 0;   // as if it had been skipped
  uint32_t plugins_weight_ = 0;  // not 0: the cycle that runs times single plugins
  uint32_t plugin_cycles_ = 0;   // that would, since the last scrape
  Timer cycle_;
  int64_t point_began_ns_ = 0;
  int64_t plugin_began_ns_ = 0;
  int64_t batch_began_ns_ = 0;    // kGetHint or kStore
  int64_t rescore_began_ns_ = 0;  // within kGetHint
  Sample hint_;
  Sample event_;
  Sample pre_enqueue_;
  uint32_t timed_pre_enqueues_ = 0;
  bool times_gates_ = false;  // the PreEnqueue that runs times single plugins
  int64_t gate_began_ns_ = 0;
  std::vector<Step> steps_;
  uint32_t steps_weight_ = 0;    // 0: already counted
  scheduler::PointTimes times_;  // the sum of steps_, on request
  // Cycles whose pods are being bound, by pod uid; and preemptions in flight, by preemptor's uid.
  std::unordered_map<std::string, Bind> binding_since_;
  std::pair<const std::string, Bind>* last_bind_ = nullptr;  // the last lookup; mostly repeated
  boost::unordered_flat_map<std::string, int64_t> preempting_since_;
  // Plugin evaluations at the last scrape, by profile and plugin.
  std::vector<std::vector<framework::PluginCalls>> calls_before_;
  // Pods that had entered queues at the last scrape, by event.
  std::vector<std::array<uint64_t, queue::kQueueNames>> incoming_before_;
  std::vector<queue::GroupMoves> groups_before_;
};

}  // namespace berth::server

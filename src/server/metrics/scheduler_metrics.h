// SchedulerMetrics: kube-scheduler's own metrics, fed by the engine.
//
// Names, help texts, labels and buckets are kube-scheduler's. All hooks are called on the engine's
// thread, which alone changes these series; the serving thread reads them.
//
// Time is read here, never in the core. Reading it twice for every step of every cycle would cost
// more than the steps, so: the first kTimedCycles cycles after each scrape are timed one by one,
// then every kSampling-th, which counts for kSampling. In a cluster that binds a few pods a second
// every duration is exact; in one that binds thousands the counts of durations are estimates.
// Counters (attempts, incoming pods, evaluations) are always exact. Of the timed cycles one in ten
// times single plugins, as in kube-scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/status.h"
#include "scheduler/engine.h"
#include "server/metrics/registry.h"

namespace berth::server {

// Label values, in the order of the family's labels, to a series; asks the family once per
// combination. For one thread.
template <class T>
class SeriesCache {
 public:
  explicit SeriesCache(FamilyOf<T>& family) : family_(family) {}

  T& Of(LabelValues values) {
    key_.clear();
    for (const std::string_view value : values) {
      key_ += value;
      key_ += '\0';
    }
    const auto it = known_.find(key_);
    if (it != known_.end()) return *it->second;
    T* series = family_.With(values);
    known_.emplace(key_, series);
    return *series;
  }
  // Calls fn(series) for every combination asked for so far.
  template <class Fn>
  void ForEach(Fn&& fn) {
    for (auto& [key, series] : known_) fn(*series);
  }

 private:
  FamilyOf<T>& family_;
  std::string key_;
  boost::unordered_flat_map<std::string, T*> known_;
};

struct SchedulerMetricsOptions {
  std::vector<std::string> profiles = {"default-scheduler"};
  bool async_api_calls = false;   // its gate
  int64_t (*now_ns)() = nullptr;  // null: the steady clock
};

class SchedulerMetrics final : public scheduler::EngineObserver {
 public:
  static constexpr uint32_t kTimedCycles = 1024;
  static constexpr uint32_t kSampling = 64;
  static constexpr uint32_t kPluginsSampling = 10;  // of the timed cycles

  // What CycleBegan answers: which of the hooks below the cycle should call.
  static constexpr int kNothing = 0;
  static constexpr int kPoints = 1;
  static constexpr int kPlugins = 2;  // points too

  // `registry` outlives the metrics.
  SchedulerMetrics(Registry& registry, const SchedulerMetricsOptions& options);

  // --- What the engine tells today
  void QueueIncoming(queue::QueueName queue, std::string_view event) override;
  void Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void Bound(const scheduler::PodRef& pod, std::string_view node, const queue::QueuedPod& info,
             const api::Time& now) override;
  void Preempted(const scheduler::PodRef& preemptor, size_t victims,
                 std::string_view node) override;

  // --- What it may tell besides. Points are named as in the labels: "PreFilter", "Filter",
  // "Unreserve", "ScoreExtensionNormalize", …
  // A cycle begins; says which hooks to call until it ends.
  int CycleBegan(const cluster::Pod& pod, std::string_view profile);
  // A node was chosen, or none and PostFilter has run.
  void AlgorithmEnded();
  // All plugins of a point. Points do not nest.
  void PointBegan(std::string_view point);
  void PointEnded(std::string_view point, framework::Code code);
  // One plugin at a point.
  void PluginBegan();
  void PluginEnded(std::string_view point, std::string_view plugin, framework::Code code);
  // A plugin was asked about the pod (PreFilter, PreScore) or about `times` nodes (Filter, Score).
  // Not for answers of Skip. Always called.
  void PluginEvaluated(std::string_view point, std::string_view plugin, std::string_view profile,
                       uint64_t times);
  // DefaultPreemption's PostFilter was asked.
  void PreemptionAttempted() { preemption_attempts_->OwnAdd(); }
  // The victims are gone, or could not be deleted.
  void PreemptionEnded(const scheduler::PodRef& preemptor, bool success);
  // A pod no longer waits for Permit.
  void PermitWaited(framework::Code code, int64_t waited_ns);
  // A queueing hint; HintBegan says whether to call HintEnded.
  bool HintBegan();
  void HintEnded(std::string_view plugin, std::string_view event, std::string_view hint);
  // An object event of this label is taken up; EventBegan says whether to call EventEnded.
  bool EventBegan();
  void EventEnded(std::string_view event);
  // A volume could not be bound ("predicate", "assume", "bind").
  void VolumeStageFailed(std::string_view operation);

  // --- At a scrape, on the engine's thread
  // Brings the gauges up to date and starts a new round of timed cycles.
  void Refresh(const scheduler::Engine& engine);
  // After Refresh; what is not set again is 0.
  void SetUnschedulablePods(std::string_view plugin, std::string_view profile, size_t pods);
  void SetInflightEvents(std::string_view event, size_t events);

 private:
  struct Timer {
    int64_t began_ns = 0;
    uint32_t weight = 0;  // 0: not timed
  };
  struct Families;

  int64_t Now() const { return now_ns_(); }
  double Since(int64_t began_ns) const { return static_cast<double>(Now() - began_ns) * 1e-9; }
  void CountAttempt(std::string_view result, std::string_view profile, const Timer& timer);
  void ForgetOld();
  // The next of a run of equal things: how much it counts for, 0: it is not timed.
  static uint32_t NextWeight(uint32_t& seen);

  SchedulerMetrics(const Families& families, const SchedulerMetricsOptions& options);
  static Families MakeFamilies(Registry& registry, const SchedulerMetricsOptions& options);

  int64_t (*now_ns_)();

  Gauge* pending_[queue::kQueueNames];
  Gauge* cache_assumed_;
  Gauge* cache_pods_;
  Gauge* cache_nodes_;
  Gauge* binding_;
  Counter* preemption_attempts_;
  Histogram* preemption_victims_;
  Histogram* algorithm_duration_;
  Histogram* pod_attempts_;
  SeriesCache<Counter> attempts_;               // result, profile
  SeriesCache<Histogram> attempt_duration_;     // result, profile
  SeriesCache<Histogram> sli_duration_;         // attempts
  SeriesCache<Counter> incoming_;               // queue, event
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

  std::vector<std::string> profiles_;
  std::string profile_;  // of the cycle that runs
  uint32_t cycles_ = 0;  // since the last scrape
  uint32_t timed_cycles_ = 0;
  uint32_t hints_ = 0;
  uint32_t events_ = 0;
  Timer cycle_;
  Timer point_;
  Timer plugin_;
  Timer hint_;
  Timer event_;
  // Cycles whose pods are being bound, by pod uid; and preemptions under way, by preemptor's uid.
  boost::unordered_flat_map<std::string, Timer> binding_since_;
  boost::unordered_flat_map<std::string, int64_t> preempting_since_;
};

}  // namespace berth::server

// GroupMetrics: kube-scheduler's metrics of pod groups, and of preemption where groups exist.
//
// Owned by SchedulerMetrics, which passes the engine's calls on. Cycles of groups are all timed:
// one takes as long as those of all its pods. What a cycle that may start over reports is kept
// until it is over.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/observer.h"
#include "server/metrics/scheduler_families.h"
#include "server/metrics/series_cache.h"

namespace berth::server {

class GroupMetrics {
 public:
  // The families outlive the metrics; `points` and `plugins` are caches of
  // framework_extension_point_duration_seconds and plugin_execution_duration_seconds.
  GroupMetrics(const SchedulerFamilies& families, SeriesCache<Histogram>& points,
               SeriesCache<Histogram>& plugins, int64_t (*now_ns)());

  // `topology`: groups are tried in placements.
  void Follow(bool topology) { topology_ = topology; }

  // --- The cycle of a group, as EngineObserver and GroupWatch have it
  void Began(std::string_view profile, bool may_start_over);
  void StartedOver() { kept_.clear(); }
  void AlgorithmEnded() { Take({.kind = Kind::kAlgorithm, .took_ns = Since(cycle_began_ns_)}); }
  void PointBegan(scheduler::GroupPoint point) { point_began_ns_[At(point)] = now_ns_(); }
  void PointEnded(scheduler::GroupPoint point, framework::Code code);
  void PluginBegan(scheduler::GroupPoint point) { plugin_began_ns_[At(point)] = now_ns_(); }
  void PluginEnded(scheduler::GroupPoint point, std::string_view plugin, framework::Code code);
  void PlacementsGenerated(size_t count) { Take({.kind = Kind::kGenerated, .count = count}); }
  void PlacementBegan() { placement_began_ns_ = now_ns_(); }
  void PlacementTried(bool feasible);
  void PreemptionTried(framework::Code code, bool searched);
  void Attempted(scheduler::GroupOutcome outcome);

  // --- Preemption
  void VictimsChosen(const scheduler::PreemptionSize& size);
  void PreemptionEvaluated(framework::Code code, int64_t took_ns, uint32_t weight);
  void PreemptionExecuted(bool for_group, bool success, int64_t took_ns);

 private:
  enum class Kind : uint8_t { kAlgorithm, kPoint, kPlugin, kGenerated, kPlacement, kPreemption };
  // Something that a cycle has reported.
  struct Seen {
    Kind kind;
    scheduler::GroupPoint point = {};
    framework::Code code = {};
    bool flag = false;  // feasible, searched
    size_t count = 0;
    std::string_view plugin = {};
    int64_t took_ns = 0;
  };

  static constexpr size_t At(scheduler::GroupPoint point) { return static_cast<size_t>(point); }
  int64_t Since(int64_t began_ns) const { return now_ns_() - began_ns; }
  void Take(const Seen& seen);
  void Count(const Seen& seen);

  int64_t (*now_ns_)();
  bool topology_ = false;

  Histogram* algorithm_duration_;
  Histogram* victims_;
  SeriesCache<Counter> attempts_;               // result, profile
  SeriesCache<Histogram> attempt_duration_;     // result, profile
  SeriesCache<Counter> generated_;              // profile
  SeriesCache<Counter> placements_;             // result, profile
  SeriesCache<Histogram> placement_duration_;   // result, profile
  SeriesCache<Counter> preemptions_;            // result
  SeriesCache<Histogram> disruptions_;          // preemptor
  SeriesCache<Histogram> evaluation_duration_;  // preemptor, result
  SeriesCache<Histogram> execution_duration_;   // preemptor, result
  SeriesCache<Counter> pdb_violations_;         // preemptor
  SeriesCache<Histogram>& points_;              // extension_point, status, profile
  SeriesCache<Histogram>& plugins_;             // plugin, extension_point, status

  // Of the cycle that runs.
  std::string profile_;
  bool keeps_ = false;
  std::vector<Seen> kept_;
  int64_t cycle_began_ns_ = 0;
  int64_t placement_began_ns_ = 0;
  std::array<int64_t, scheduler::kGroupPoints> point_began_ns_ = {};
  std::array<int64_t, scheduler::kGroupPoints> plugin_began_ns_ = {};
};

}  // namespace berth::server

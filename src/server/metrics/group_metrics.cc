#include "server/metrics/group_metrics.h"

#include <utility>

namespace berth::server {
namespace {

using framework::Code;
using scheduler::GroupPoint;

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// The label "preemptor".
std::string_view PreemptorName(bool is_group) { return is_group ? "podgroup" : "pod"; }

}  // namespace

GroupMetrics::GroupMetrics(const SchedulerFamilies& families, SeriesCache<Histogram>& points,
                           SeriesCache<Histogram>& plugins, int64_t (*now_ns)())
    : now_ns_(now_ns),
      algorithm_duration_(
          families.Histograms(Metric::kPodgroupSchedulingAlgorithmDurationSeconds).Only()),
      victims_(families.Histograms(Metric::kWorkloadPreemptionVictims).Only()),
      attempts_(families.Counters(Metric::kPodgroupScheduleAttemptsTotal)),
      attempt_duration_(families.Histograms(Metric::kPodgroupSchedulingAttemptDurationSeconds)),
      generated_(families.Counters(Metric::kGeneratedPlacementsTotal)),
      placements_(families.Counters(Metric::kPlacementEvaluationsTotal)),
      placement_duration_(families.Histograms(Metric::kPlacementEvaluationDurationSeconds)),
      preemptions_(families.Counters(Metric::kWorkloadPreemptionAttemptsTotal)),
      disruptions_(families.Histograms(Metric::kPreemptionWorkloadDisruptions)),
      evaluation_duration_(families.Histograms(Metric::kPreemptionEvaluationDurationSeconds)),
      execution_duration_(families.Histograms(Metric::kPreemptionExecutionDurationSeconds)),
      pdb_violations_(families.Counters(Metric::kPreemptionPdbViolationsTotal)),
      points_(points),
      plugins_(plugins) {}

// --- The cycle of a group

void GroupMetrics::Began(std::string_view profile, bool may_start_over) {
  if (profile_ != profile) profile_ = profile;
  keeps_ = may_start_over;
  kept_.clear();
  cycle_began_ns_ = now_ns_();
}

void GroupMetrics::PointEnded(GroupPoint point, Code code) {
  Take({.kind = Kind::kPoint,
        .point = point,
        .code = code,
        .took_ns = Since(point_began_ns_[At(point)])});
}

// kube-scheduler times PodGroupPostFilter plugins only where it tries placements.
void GroupMetrics::PluginEnded(GroupPoint point, std::string_view plugin, Code code) {
  if (point == GroupPoint::kPodGroupPostFilter && !topology_) return;
  Take({.kind = Kind::kPlugin,
        .point = point,
        .code = code,
        .plugin = plugin,
        .took_ns = Since(plugin_began_ns_[At(point)])});
}

void GroupMetrics::PlacementTried(bool feasible) {
  Take({.kind = Kind::kPlacement, .flag = feasible, .took_ns = Since(placement_began_ns_)});
}

void GroupMetrics::PreemptionTried(Code code, bool searched) {
  Take({.kind = Kind::kPreemption,
        .code = code,
        .flag = searched,
        .took_ns = Since(plugin_began_ns_[At(GroupPoint::kPodGroupPostFilter)])});
}

void GroupMetrics::Attempted(scheduler::GroupOutcome outcome) {
  for (const Seen& seen : std::exchange(kept_, {})) Count(seen);
  const std::string_view result = scheduler::NameOf(outcome);
  attempts_.Of({result, profile_}).OwnAdd();
  attempt_duration_.Of({result, profile_}).OwnObserve(Seconds(Since(cycle_began_ns_)));
}

void GroupMetrics::Take(const Seen& seen) {
  if (keeps_) {
    kept_.push_back(seen);
  } else {
    Count(seen);
  }
}

void GroupMetrics::Count(const Seen& seen) {
  const double took = Seconds(seen.took_ns);
  const std::string_view code = framework::CodeName(seen.code);
  switch (seen.kind) {
    case Kind::kAlgorithm:
      algorithm_duration_->OwnObserve(took);
      return;
    case Kind::kPoint:
      points_.Of({scheduler::NameOf(seen.point), code, profile_}).OwnObserve(took);
      return;
    case Kind::kPlugin:
      plugins_.Of({seen.plugin, scheduler::NameOf(seen.point), code}).OwnObserve(took);
      return;
    case Kind::kGenerated:
      generated_.Of({profile_}).OwnAdd(static_cast<double>(seen.count));
      return;
    case Kind::kPlacement: {
      const std::string_view result = seen.flag ? "feasible" : "infeasible";
      placements_.Of({result, profile_}).OwnAdd();
      placement_duration_.Of({result, profile_}).OwnObserve(took);
      return;
    }
    case Kind::kPreemption:
      preemptions_.Of({code}).OwnAdd();
      if (seen.flag) evaluation_duration_.Of({PreemptorName(true), code}).OwnObserve(took);
      return;
  }
}

// --- Preemption

void GroupMetrics::VictimsChosen(const scheduler::PreemptionSize& size) {
  const std::string_view preemptor = PreemptorName(size.for_group);
  if (size.for_group) victims_->OwnObserve(static_cast<double>(size.victims));
  if (size.group_disruptions > 0) {
    disruptions_.Of({preemptor}).OwnObserve(static_cast<double>(size.group_disruptions));
  }
  if (size.pdb_violations > 0) {
    pdb_violations_.Of({preemptor}).OwnAdd(static_cast<double>(size.pdb_violations));
  }
}

void GroupMetrics::PreemptionEvaluated(Code code, int64_t took_ns, uint32_t weight) {
  evaluation_duration_.Of({PreemptorName(false), framework::CodeName(code)})
      .OwnObserve(Seconds(took_ns), weight);
}

void GroupMetrics::PreemptionExecuted(bool for_group, bool success, int64_t took_ns) {
  execution_duration_.Of({PreemptorName(for_group), success ? "success" : "error"})
      .OwnObserve(Seconds(took_ns));
}

}  // namespace berth::server

// SchedulerFamilies: the table of kube-scheduler's own metrics, by release of Kubernetes.
//
// Every family of every release is registered once, so that its series outlive a change of the
// release. Follow shows those that kube-scheduler of a release has with the gates of a Behaviour,
// and gives them its help texts and stability. Labels and buckets do not differ between releases.
//
// Not in the table: the metrics of pod groups in 1.36, where the gate is not followed.
#pragma once

#include <array>
#include <cstdint>

#include "config/behaviour.h"
#include "server/metrics/registry.h"

namespace berth::server {

// The names are kube-scheduler's, without "scheduler_".
enum class Metric : uint8_t {
  kScheduleAttemptsTotal,
  kSchedulingAttemptDurationSeconds,
  kSchedulingAlgorithmDurationSeconds,
  kEventHandlingDurationSeconds,
  kPreemptionVictims,
  kPreemptionAttemptsTotal,
  kPendingPods,
  kQueuedEntities,
  kInflightEvents,
  kGoroutines,
  kBatchAttemptsTotal,
  kBatchCacheFlushedTotal,
  kBatchRescoreAttemptsTotal,
  kBatchRescoreDurationSeconds,
  kGetNodeHintDurationSeconds,
  kStoreScheduleResultsDurationSeconds,
  kPodSchedulingSliDurationSeconds,
  kPodSchedulingAttempts,
  kPodScheduledAfterFlushTotal,
  kPreQueueingHintEvaluationsTotal,
  kFrameworkExtensionPointDurationSeconds,
  kPluginExecutionDurationSeconds,
  kQueueingHintExecutionDurationSeconds,
  kQueueIncomingPodsTotal,
  kQueueIncomingEntitiesTotal,
  kPermitWaitDurationSeconds,
  kCacheSize,
  kUnschedulablePods,
  kPluginEvaluationTotal,
  kPreemptionGoroutinesDurationSeconds,
  kPreemptionGoroutinesExecutionTotal,
  kAsyncApiCallExecutionTotal,
  kAsyncApiCallExecutionDurationSeconds,
  kPendingAsyncApiCalls,
  kResourceclaimCreatesTotal,
  kDraResourceclaimCreatesTotal,  // "dynamic_resource_allocation_…", which took its place
  kDraBindingconditionsAllocationsTotal,
  kDraBindingconditionsWaitDurationSeconds,
  kVolumeBinderCacheRequestsTotal,
  kVolumeSchedulingStageErrorTotal,
  kPodgroupScheduleAttemptsTotal,
  kPodgroupSchedulingAttemptDurationSeconds,
  kPodgroupSchedulingAlgorithmDurationSeconds,
  kWorkloadPreemptionAttemptsTotal,
  kWorkloadPreemptionVictims,
  kPreemptionWorkloadDisruptions,
  kPreemptionEvaluationDurationSeconds,
  kPreemptionExecutionDurationSeconds,
  kPreemptionPdbViolationsTotal,
  kGeneratedPlacementsTotal,
  kPlacementEvaluationsTotal,
  kPlacementEvaluationDurationSeconds,
};
inline constexpr size_t kMetrics = 52;

class SchedulerFamilies {
 public:
  // `registry` outlives the families.
  explicit SchedulerFamilies(Registry& registry);

  // Shows what kube-scheduler of behaviour.release has.
  void Follow(const config::Behaviour& behaviour);

  // REQUIRES: the metric is of that type.
  CounterFamily& Counters(Metric metric) const { return As<CounterFamily>(metric); }
  GaugeFamily& Gauges(Metric metric) const { return As<GaugeFamily>(metric); }
  HistogramFamily& Histograms(Metric metric) const { return As<HistogramFamily>(metric); }
  const Family* Find(Metric metric) const { return families_[static_cast<size_t>(metric)]; }

 private:
  template <class F>
  F& As(Metric metric) const {
    return static_cast<F&>(*families_[static_cast<size_t>(metric)]);
  }

  std::array<Family*, kMetrics> families_ = {};
};

}  // namespace berth::server

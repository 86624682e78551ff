// The tables of the report's types.
#include "sim/record/scenario_report.h"

#include <cmath>

namespace berth::sim {

using api::TypeInfo;

const TypeInfo& PodCounts::Type() {
  static const TypeInfo type = api::Describe<PodCounts>("PodCounts")
                                   .Always(0, "created", &PodCounts::created)
                                   .Always(0, "scheduled", &PodCounts::scheduled)
                                   .Always(0, "finished", &PodCounts::finished)
                                   .Always(0, "deleted", &PodCounts::deleted)
                                   .Always(0, "preempted", &PodCounts::preempted)
                                   .Always(0, "pending", &PodCounts::pending)
                                   .Always(0, "unschedulable", &PodCounts::unschedulable)
                                   .Always(0, "gated", &PodCounts::gated)
                                   .Field(0, "lost", &PodCounts::lost)
                                   .Build();
  return type;
}

const TypeInfo& LatencyLine::Type() {
  static const TypeInfo type = api::Describe<LatencyLine>("LatencyLine")
                                   .Always(0, "priority", &LatencyLine::priority)
                                   .Always(0, "pods", &LatencyLine::pods)
                                   .Always(0, "mean", &LatencyLine::mean)
                                   .Always(0, "p50", &LatencyLine::p50)
                                   .Always(0, "p90", &LatencyLine::p90)
                                   .Always(0, "p99", &LatencyLine::p99)
                                   .Always(0, "max", &LatencyLine::max)
                                   .Build();
  return type;
}

const TypeInfo& LatencyBucket::Type() {
  static const TypeInfo type = api::Describe<LatencyBucket>("LatencyBucket")
                                   .Always(0, "from", &LatencyBucket::from)
                                   .Always(0, "to", &LatencyBucket::to)
                                   .Always(0, "pods", &LatencyBucket::pods)
                                   .Build();
  return type;
}

const TypeInfo& AttemptsLine::Type() {
  static const TypeInfo type = api::Describe<AttemptsLine>("AttemptsLine")
                                   .Always(0, "attempts", &AttemptsLine::attempts)
                                   .Always(0, "pods", &AttemptsLine::pods)
                                   .Build();
  return type;
}

const TypeInfo& ReasonLine::Type() {
  static const TypeInfo type = api::Describe<ReasonLine>("ReasonLine")
                                   .Always(0, "reason", &ReasonLine::reason)
                                   .Always(0, "attempts", &ReasonLine::attempts)
                                   .Always(0, "pending", &ReasonLine::pending)
                                   .Build();
  return type;
}

const TypeInfo& Summary::Type() {
  static const TypeInfo type = api::Describe<Summary>("Summary")
                                   .Always(0, "what", &Summary::what)
                                   .Always(0, "mean", &Summary::mean)
                                   .Always(0, "peak", &Summary::peak)
                                   .Always(0, "end", &Summary::end)
                                   .Build();
  return type;
}

const TypeInfo& FragmentationSummary::Type() {
  static const TypeInfo type =
      api::Describe<FragmentationSummary>("FragmentationSummary")
          .Always(0, "referenceCpu", &FragmentationSummary::reference_cpu)
          .Always(0, "referenceMemory", &FragmentationSummary::reference_memory)
          .Always(0, "cpu", &FragmentationSummary::cpu)
          .Always(0, "memory", &FragmentationSummary::memory)
          .Always(0, "headroom", &FragmentationSummary::headroom)
          .Build();
  return type;
}

const TypeInfo& SchedulerSummary::Type() {
  static const TypeInfo type = api::Describe<SchedulerSummary>("SchedulerSummary")
                                   .Always(0, "attempts", &SchedulerSummary::attempts)
                                   .Always(0, "failedAttempts", &SchedulerSummary::failed_attempts)
                                   .Always(0, "preemptions", &SchedulerSummary::preemptions)
                                   .Always(0, "crashes", &SchedulerSummary::crashes)
                                   .Always(0, "meanPerSecond", &SchedulerSummary::mean_per_second)
                                   .Always(0, "peakPerSecond", &SchedulerSummary::peak_per_second)
                                   .Build();
  return type;
}

const TypeInfo& EventLine::Type() {
  static const TypeInfo type = api::Describe<EventLine>("EventLine")
                                   .Always(0, "at", &EventLine::at)
                                   .Always(0, "name", &EventLine::name)
                                   .Build();
  return type;
}

const TypeInfo& PendingLine::Type() {
  static const TypeInfo type = api::Describe<PendingLine>("PendingLine")
                                   .Always(0, "workload", &PendingLine::workload)
                                   .Always(0, "before", &PendingLine::before)
                                   .Always(0, "pending", &PendingLine::pending)
                                   .Field(0, "reasons", &PendingLine::reasons)
                                   .Field(0, "pods", &PendingLine::pods)
                                   .Build();
  return type;
}

const TypeInfo& SamplePoint::Type() {
  static const TypeInfo type = api::Describe<SamplePoint>("SamplePoint")
                                   .Always(0, "at", &SamplePoint::at)
                                   .Always(0, "nodes", &SamplePoint::nodes)
                                   .Always(0, "bound", &SamplePoint::bound)
                                   .Always(0, "pending", &SamplePoint::pending)
                                   .Always(0, "cpu", &SamplePoint::cpu)
                                   .Always(0, "memory", &SamplePoint::memory)
                                   .Always(0, "pods", &SamplePoint::pods)
                                   .Always(0, "cpuStranded", &SamplePoint::cpu_stranded)
                                   .Always(0, "memoryStranded", &SamplePoint::memory_stranded)
                                   .Always(0, "headroom", &SamplePoint::headroom)
                                   .Always(0, "schedulerUp", &SamplePoint::scheduler_up)
                                   .Always(0, "active", &SamplePoint::active)
                                   .Always(0, "backoff", &SamplePoint::backoff)
                                   .Always(0, "unschedulable", &SamplePoint::unschedulable)
                                   .Always(0, "gated", &SamplePoint::gated)
                                   .Always(0, "created", &SamplePoint::created)
                                   .Always(0, "scheduled", &SamplePoint::scheduled)
                                   .Always(0, "attempts", &SamplePoint::attempts)
                                   .Always(0, "preempted", &SamplePoint::preempted)
                                   .Always(0, "p50", &SamplePoint::p50)
                                   .Always(0, "p99", &SamplePoint::p99)
                                   .Build();
  return type;
}

const TypeInfo& ScenarioReport::Type() {
  static const TypeInfo type =
      api::Describe<ScenarioReport>("ScenarioReport")
          .Always(0, "seed", &ScenarioReport::seed)
          .Always(0, "durationSeconds", &ScenarioReport::duration_seconds)
          .Always(0, "sampleEverySeconds", &ScenarioReport::sample_every_seconds)
          .Always(0, "nodes", &ScenarioReport::nodes)
          .Always(0, "pods", &ScenarioReport::pods)
          .Always(0, "scheduler", &ScenarioReport::scheduler)
          .Always(0, "latency", &ScenarioReport::latency)
          .Always(0, "latencyHistogram", &ScenarioReport::latency_histogram)
          .Always(0, "attempts", &ScenarioReport::attempts)
          .Field(0, "reasons", &ScenarioReport::reasons)
          .Field(0, "pending", &ScenarioReport::pending)
          .Field(0, "lost", &ScenarioReport::lost)
          .Field(0, "inferred", &ScenarioReport::inferred)
          .Always(0, "utilization", &ScenarioReport::utilization)
          .Always(0, "fragmentation", &ScenarioReport::fragmentation)
          .Field(0, "events", &ScenarioReport::events)
          .Always(0, "samples", &ScenarioReport::samples)
          .Field(0, "warnings", &ScenarioReport::warnings)
          .Build();
  return type;
}

double Seconds(Nanos length) {
  return std::round(static_cast<double>(length) / static_cast<double>(kMillisecond)) / 1000;
}

}  // namespace berth::sim

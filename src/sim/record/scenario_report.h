// ScenarioReport: the results of a scenario, as data for JSON, text and HTML output.
//
// Nothing in it depends on the machine or on how long the run took. Times are seconds, shares are
// percent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

struct PodCounts {
  int64_t created = 0;
  int64_t scheduled = 0;      // bound in this run
  int64_t finished = 0;       // run to their end
  int64_t deleted = 0;        // by controllers, events, evictions and preemption
  int64_t preempted = 0;      // of the deleted: by preemption
  int64_t pending = 0;        // without a node at the end
  int64_t unschedulable = 0;  // of the pending: tried, and no node fits
  int64_t gated = 0;          // of the pending: held back by scheduling gates
  int64_t lost = 0;           // of the deleted: evicted or preempted, and nothing replaces them
  static const api::TypeInfo& Type();
};

// From a pod's creation to its binding.
struct LatencyLine {
  std::string priority;  // "all" or a number
  int64_t pods = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
  static const api::TypeInfo& Type();
};

struct LatencyBucket {
  double from = 0;
  double to = 0;
  int64_t pods = 0;
  static const api::TypeInfo& Type();
};

// Pods by the number of attempts they took.
struct AttemptsLine {
  int64_t attempts = 0;
  int64_t pods = 0;
  static const api::TypeInfo& Type();
};

// Why attempts failed: a reason of FailedScheduling messages.
struct ReasonLine {
  std::string reason;
  int64_t attempts = 0;  // that named it
  int64_t pending = 0;   // pods pending at the end whose last attempt named it
  static const api::TypeInfo& Type();
};

// A workload that has pods without a node at the end, or had some before the first event.
struct PendingLine {
  std::string workload;              // "Deployment shop/web"
  int64_t before = 0;                // pods pending before the first event
  int64_t pending = 0;               // at the end
  std::vector<std::string> reasons;  // of the last failed attempt of one of them
  std::vector<std::string> pods;     // up to 20 names of those pending at the end
  static const api::TypeInfo& Type();
};

// Over all samples.
struct Summary {
  std::string what;
  double mean = 0;
  double peak = 0;
  double end = 0;
  static const api::TypeInfo& Type();
};

struct FragmentationSummary {
  std::string reference_cpu;
  std::string reference_memory;
  Summary cpu;
  Summary memory;
  int64_t headroom = 0;  // at the end
  static const api::TypeInfo& Type();
};

struct SchedulerSummary {
  int64_t attempts = 0;
  int64_t failed_attempts = 0;
  int64_t preemptions = 0;  // attempts that chose victims
  int64_t crashes = 0;
  double mean_per_second = 0;  // pods scheduled
  double peak_per_second = 0;  // in the best sample interval
  static const api::TypeInfo& Type();
};

struct EventLine {
  double at = 0;
  std::string name;
  static const api::TypeInfo& Type();
};

// The cluster at a moment, and what happened since the last one.
struct SamplePoint {
  double at = 0;
  int64_t nodes = 0;
  int64_t bound = 0;    // pods with a node
  int64_t pending = 0;  // pods without
  double cpu = 0;       // percent of allocatable requested
  double memory = 0;
  double pods = 0;
  double cpu_stranded = 0;  // percent of the free amount
  double memory_stranded = 0;
  int64_t headroom = 0;
  bool scheduler_up = true;
  int64_t active = 0;  // depths of the queues
  int64_t backoff = 0;
  int64_t unschedulable = 0;
  int64_t gated = 0;
  // Since the last sample.
  int64_t created = 0;
  int64_t scheduled = 0;
  int64_t attempts = 0;
  int64_t preempted = 0;
  double p50 = 0;  // latency of the pods scheduled
  double p99 = 0;
  static const api::TypeInfo& Type();
};

struct ScenarioReport {
  int64_t seed = 0;
  double duration_seconds = 0;
  double sample_every_seconds = 0;
  int64_t nodes = 0;  // at the end
  PodCounts pods;
  SchedulerSummary scheduler;
  std::vector<LatencyLine> latency;
  std::vector<LatencyBucket> latency_histogram;
  std::vector<AttemptsLine> attempts;
  std::vector<ReasonLine> reasons;
  std::vector<PendingLine> pending;   // most pods first
  std::vector<std::string> lost;      // "shop/debug": evicted, and nothing replaces them
  std::vector<std::string> inferred;  // "ReplicaSet shop/web-5d4f": not in the input
  std::vector<Summary> utilization;
  FragmentationSummary fragmentation;
  std::vector<EventLine> events;
  std::vector<SamplePoint> samples;
  std::vector<std::string> warnings;
  static const api::TypeInfo& Type();
};

// To the millisecond.
double Seconds(Nanos length);

}  // namespace berth::sim

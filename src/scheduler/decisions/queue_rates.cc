#include "scheduler/decisions/queue_rates.h"

namespace berth::scheduler {

using api::Describe;
using api::TypeInfo;

const TypeInfo& QueueTotals::Type() {
  static const TypeInfo type = Describe<QueueTotals>("QueueTotals")
                                   .Always(1, "scheduled", &QueueTotals::scheduled)
                                   .Always(2, "unschedulable", &QueueTotals::unschedulable)
                                   .Always(3, "error", &QueueTotals::error)
                                   .Always(4, "bound", &QueueTotals::bound)
                                   .Always(5, "preempted", &QueueTotals::preempted)
                                   .Build();
  return type;
}

const TypeInfo& Latency::Type() {
  static const TypeInfo type = Describe<Latency>("Latency")
                                   .Always(1, "p50", &Latency::p50)
                                   .Always(2, "p90", &Latency::p90)
                                   .Always(3, "p99", &Latency::p99)
                                   .Always(4, "max", &Latency::max)
                                   .Always(5, "count", &Latency::count)
                                   .Build();
  return type;
}

const TypeInfo& RateSeries::Type() {
  static const TypeInfo type = Describe<RateSeries>("RateSeries")
                                   .Always(1, "bound", &RateSeries::bound)
                                   .Always(2, "failed", &RateSeries::failed)
                                   .Build();
  return type;
}

const TypeInfo& QueueRates::Type() {
  static const TypeInfo type = Describe<QueueRates>("QueueRates")
                                   .Always(1, "scheduled", &QueueRates::scheduled)
                                   .Always(2, "unschedulable", &QueueRates::unschedulable)
                                   .Always(3, "error", &QueueRates::error)
                                   .Always(4, "bound", &QueueRates::bound)
                                   .Always(5, "boundPerSecond", &QueueRates::bound_per_second)
                                   .Always(6, "attemptsPerSecond", &QueueRates::attempts_per_second)
                                   .Always(7, "latencyMs", &QueueRates::latency_ms)
                                   .Field(8, "series", &QueueRates::series)
                                   .Build();
  return type;
}

}  // namespace berth::scheduler

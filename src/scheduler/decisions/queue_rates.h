// Counts and rates of scheduling attempts, as the explain API reports them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/codec/schema.h"

namespace berth::scheduler {

struct QueueTotals {
  int64_t scheduled = 0;
  int64_t unschedulable = 0;
  int64_t error = 0;
  int64_t bound = 0;
  int64_t preempted = 0;

  static const api::TypeInfo& Type();
};

struct Latency {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
  int64_t count = 0;

  static const api::TypeInfo& Type();
};

struct RateSeries {
  std::vector<int64_t> bound;
  std::vector<int64_t> failed;

  static const api::TypeInfo& Type();
};

struct QueueRates {
  int64_t scheduled = 0;
  int64_t unschedulable = 0;
  int64_t error = 0;
  int64_t bound = 0;
  double bound_per_second = 0;
  double attempts_per_second = 0;
  Latency latency_ms;
  std::optional<RateSeries> series;  // one number per second, the newest last

  static const api::TypeInfo& Type();
};

}  // namespace berth::scheduler

// Rates: how many attempts, with which outcome, and how long pods waited: in all and lately.
// The engine tells what happens and when; old seconds are forgotten.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/algorithm.h"
#include "scheduler/decisions/queue_rates.h"

namespace berth::scheduler {

class Rates {
 public:
  static constexpr int64_t kSeconds = 60;

  void Attempted(Outcome outcome, int64_t now_ns);
  // The API server has taken the binding, `latency_ns` after the pod's first attempt.
  void Bound(int64_t latency_ns, int64_t now_ns);
  void Preempted(size_t victims) { totals_.preempted += static_cast<int64_t>(victims); }

  const QueueTotals& Totals() const { return totals_; }
  QueueRates Lately(int64_t now_ns) const;

 private:
  struct Second {
    int64_t second = -1;
    int32_t scheduled = 0;
    int32_t unschedulable = 0;
    int32_t error = 0;
    int32_t bound = 0;
  };
  struct Sample {
    int64_t time_ns = -1;
    int64_t latency_ns = 0;
  };
  Second& At(int64_t now_ns);

  QueueTotals totals_;
  std::array<Second, 64> seconds_;
  std::array<Sample, 4096> samples_;  // the last ones
  size_t next_sample_ = 0;
};

}  // namespace berth::scheduler

// Fence: the moment after which this process must not write, because its renew deadline has passed.
//
// The leader elector moves it ahead with every renewal; the engine decides nothing and the client
// sends no write beyond it. A process that was stopped and continued finds it in the past before
// any timer or answer says that the lease is lost. Safe to use from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "net/loop.h"

namespace berth::kube {

class Fence {
 public:
  // On the steady clock, as net::Loop::Steady gives it.
  void Move(net::Nanoseconds until) { until_.store(until.count(), std::memory_order_relaxed); }
  net::Nanoseconds Until() const {
    return net::Nanoseconds(until_.load(std::memory_order_relaxed));
  }
  // It was never moved: there is no election.
  bool IsOpen() const { return until_.load(std::memory_order_relaxed) == kNever; }
  bool Passed(net::Nanoseconds now) const {
    return now.count() >= until_.load(std::memory_order_relaxed);
  }

 private:
  // Without an election there is none.
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> until_ = kNever;
};

}  // namespace berth::kube

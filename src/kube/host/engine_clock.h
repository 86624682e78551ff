// EngineClock: the time the engine is told.
//
// Starts as the wall clock and goes on as a steady one: a clock that is set back would make every
// backoff wait for as long, one that jumps ahead would end them all.
#pragma once

#include <chrono>

#include "api/time.h"

namespace berth::kube {

class EngineClock {
 public:
  using Steady = std::chrono::steady_clock;

  EngineClock()
      : start_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()),
        steady_start_(Steady::now()) {}

  api::Time Now() const {
    const auto passed = std::chrono::nanoseconds(Steady::now() - steady_start_);
    return api::Time::FromUnixNano(start_ + passed.count());
  }
  Steady::time_point When(const api::Time& time) const {
    return steady_start_ + std::chrono::nanoseconds(time.UnixNano() - start_);
  }

 private:
  int64_t start_;
  Steady::time_point steady_start_;
};

}  // namespace berth::kube

// Backoff: pauses that double up to a limit, with jitter; short again after a quiet while.
#pragma once

#include <algorithm>

#include "kube/loop.h"

namespace berth::kube {

class Backoff {
 public:
  struct Limits {
    Nanoseconds first = std::chrono::milliseconds(800);
    Nanoseconds most = std::chrono::seconds(30);         // without jitter
    Nanoseconds forget_after = std::chrono::minutes(2);  // since the pause before
    double factor = 2;
    double jitter = 1;  // a pause is longer by up to this part of itself
  };

  Backoff() = default;
  explicit Backoff(const Limits& limits) : limits_(limits) {}

  Nanoseconds Next(Loop& loop) {
    const Nanoseconds now = loop.Steady();
    if (next_ == Nanoseconds(0) || now - last_ > limits_.forget_after) next_ = limits_.first;
    last_ = now;
    const Nanoseconds pause = next_;
    next_ = std::min(Scale(next_, limits_.factor), limits_.most);
    return Scale(pause, 1 + limits_.jitter * loop.Random());
  }

 private:
  static Nanoseconds Scale(Nanoseconds pause, double by) {
    return Nanoseconds(static_cast<int64_t>(static_cast<double>(pause.count()) * by));
  }

  Limits limits_;
  Nanoseconds next_{0};  // 0: no pause yet
  Nanoseconds last_{0};
};

}  // namespace berth::kube

// Backoff: pauses that double up to a limit, with jitter; short again after a quiet while.
#pragma once

#include <algorithm>

#include "net/loop.h"

namespace berth::kube {

class Backoff {
 public:
  struct Limits {
    net::Nanoseconds first = std::chrono::milliseconds(800);
    net::Nanoseconds most = std::chrono::seconds(30);         // without jitter
    net::Nanoseconds forget_after = std::chrono::minutes(2);  // since the pause before
    double factor = 2;
    double jitter = 1;  // a pause is longer by up to this part of itself
  };

  Backoff() = default;
  explicit Backoff(const Limits& limits) : limits_(limits) {}

  net::Nanoseconds Next(net::Loop& loop) {
    const net::Nanoseconds now = loop.Steady();
    if (next_ == net::Nanoseconds(0) || now - last_ > limits_.forget_after) next_ = limits_.first;
    last_ = now;
    const net::Nanoseconds pause = next_;
    next_ = std::min(Scale(next_, limits_.factor), limits_.most);
    return Scale(pause, 1 + limits_.jitter * loop.Random());
  }

 private:
  static net::Nanoseconds Scale(net::Nanoseconds pause, double by) {
    return net::Nanoseconds(static_cast<int64_t>(static_cast<double>(pause.count()) * by));
  }

  Limits limits_;
  net::Nanoseconds next_{0};  // 0: no pause yet
  net::Nanoseconds last_{0};
};

}  // namespace berth::kube

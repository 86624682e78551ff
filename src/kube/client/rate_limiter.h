// RateLimiter: the token bucket of client-go's flowcontrol (golang.org/x/time/rate).
//
// Holds up to `burst` tokens, full at first, and gains `qps` of them a second. Taking one that is
// not there yet is a debt: the taker waits until it is paid, and later takers wait behind it. So
// waiters go in the order they came.
#pragma once

#include "net/loop.h"

namespace berth::kube {

class RateLimiter {
 public:
  // As client-go: qps 0 means 5 and burst 0 means 10; qps below 0 means no limit.
  RateLimiter(float qps, int burst);

  // Takes a token; what is returned is how long to wait before using it.
  net::Nanoseconds Take(net::Nanoseconds now);
  // Gives a token back that was taken at `taken` with a wait of `wait` and will not be used. Those
  // who came later keep their places, as in client-go.
  void GiveBack(net::Nanoseconds now, net::Nanoseconds taken, net::Nanoseconds wait);

 private:
  void Advance(net::Nanoseconds now);

  double qps_;
  double burst_;
  double tokens_;
  net::Nanoseconds last_{0};        // when tokens_ was right
  net::Nanoseconds last_event_{0};  // when the last token taken may be used
};

}  // namespace berth::kube

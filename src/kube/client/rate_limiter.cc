#include "kube/client/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace berth::kube {
namespace {

constexpr double kDefaultQps = 5;
constexpr double kDefaultBurst = 10;
// Longer waits are as good as forever; beyond it nanoseconds would overflow.
constexpr double kLongestWaitSeconds = 1e9;

net::Nanoseconds FromSeconds(double seconds) {
  const double nanos = std::floor(std::min(seconds, kLongestWaitSeconds) * 1e9);
  return net::Nanoseconds(static_cast<net::Nanoseconds::rep>(nanos));
}

double Seconds(net::Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

RateLimiter::RateLimiter(float qps, int burst)
    : qps_(qps == 0 ? kDefaultQps : static_cast<double>(qps)),
      burst_(burst == 0 ? kDefaultBurst : std::max(1, burst)),
      tokens_(burst_) {}

void RateLimiter::Advance(net::Nanoseconds now) {
  if (now <= last_) return;
  tokens_ = std::min(burst_, tokens_ + Seconds(now - last_) * qps_);
  last_ = now;
}

net::Nanoseconds RateLimiter::Take(net::Nanoseconds now) {
  if (!(qps_ > 0)) return net::Nanoseconds(0);
  Advance(now);
  tokens_ -= 1;
  const net::Nanoseconds wait = tokens_ < 0 ? FromSeconds(-tokens_ / qps_) : net::Nanoseconds(0);
  last_event_ = now + wait;
  return wait;
}

void RateLimiter::GiveBack(net::Nanoseconds now, net::Nanoseconds taken, net::Nanoseconds wait) {
  const net::Nanoseconds event = taken + wait;
  if (!(qps_ > 0) || event <= now) return;
  // Tokens taken after this one already count on it.
  const double restore = 1 - Seconds(last_event_ - event) * qps_;
  if (restore <= 0) return;
  Advance(now);
  tokens_ = std::min(burst_, tokens_ + restore);
  if (event == last_event_) {
    const net::Nanoseconds previous = event - FromSeconds(1 / qps_);
    if (previous >= now) last_event_ = previous;
  }
}

}  // namespace berth::kube

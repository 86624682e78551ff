// LeaseTimes: when a leader must be silent and when its successor may begin.
//
// Let r be the start of the leader's last renewal that succeeded, o the moment at which the
// successor saw it (so o is after r).
//
//   r + renewDeadline                    the leader sends no write after this
//   r + renewDeadline + WriteTimeout()   the API server executes none of them after this
//   o + leaseDuration                    the successor may take the Lease
//
// WriteTimeout() is half of what the Lease allows. The other half is for what requests spend on the
// wire and for clocks that do not run equally fast. See docs/high-availability.md.
#pragma once

#include <cstdint>

#include "config/types.h"
#include "net/loop.h"

namespace berth::kube {

struct LeaseTimes {
  net::Nanoseconds lease{0};
  net::Nanoseconds renew_deadline{0};
  net::Nanoseconds retry_period{0};

  static LeaseTimes Of(const config::LeaderElectionConfiguration& config) {
    return {net::Nanoseconds(config.lease_duration.ns), net::Nanoseconds(config.renew_deadline.ns),
            net::Nanoseconds(config.retry_period.ns)};
  }

  // How long after its receipt the API server may still execute a write. At least a millisecond.
  net::Nanoseconds WriteTimeout() const {
    const net::Nanoseconds half = (lease - renew_deadline) / 2;
    const net::Nanoseconds least = std::chrono::milliseconds(1);
    return half < least ? least : half / least * least;
  }
  // Between two reads of a Lease that another replica holds; `random` in [0, 1). A quarter of the
  // retry period: a Lease that was given up is found soon, and the last renewal of a leader that
  // died is not seen much later than it happened.
  net::Nanoseconds StandbyPause(double random) const {
    const double quarter = static_cast<double>(retry_period.count()) / 4;
    return net::Nanoseconds(static_cast<int64_t>(quarter * (1 + random / 5)));
  }
};

}  // namespace berth::kube

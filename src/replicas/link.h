// Link: what lies between one replica and the API server, and how well it works.
//
// A message takes up to kLongestMessage: what requests may spend on the wire is part of what a
// takeover relies on (kube/election/lease_times.h). Everything else may be as bad as it likes:
// messages are lost, answers are lost, watches stall, the server takes its time.
#pragma once

#include <cstdint>

#include "sim/chaos/dice.h"
#include "sim/host/event_loop.h"

namespace berth::replicas {

inline constexpr sim::Nanos kLongestMessage = 10 * sim::kMillisecond;

struct Link {
  explicit Link(uint64_t seed) : dice(seed) {}

  sim::Dice dice;
  bool cut = false;           // nothing passes
  bool lease_cut = false;     // no request about the Lease passes
  bool peers_cut = false;     // no message to or from another replica passes
  bool slow_server = false;   // writes wait at the server, some until they are given up
  uint32_t lost_answers = 0;  // per thousand
  sim::Nanos watch_lag = 0;   // of events, besides the wire

  sim::Nanos Wire() {
    return dice.PerMille(100) ? kLongestMessage
                              : dice.Between(sim::kMillisecond / 10, kLongestMessage);
  }
  // How long a write waits at a server that gives it up after `timeout`: often as long as it may.
  sim::Nanos ServerTime(sim::Nanos timeout) {
    if (!slow_server) return dice.Between(0, 5 * sim::kMillisecond);
    if (dice.PerMille(400)) return timeout;
    return dice.Between(0, timeout * 13 / 10);
  }
};

}  // namespace berth::replicas

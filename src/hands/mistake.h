// Mistake: errors that could be made in this protocol, planted to see that a simulation finds them.
#pragma once

#include <cstdint>

namespace berth::hands {

enum class Mistake : uint8_t {
  kNone,
  kSendBeforeAck,  // a binding leaves before the other in-sync hands have it in their logs
  kNoAdoption,     // a new leader neither lists nor adopts what its log holds
  kStaleFence,     // a hand sends tasks however late it is
  kDropUnwritten,  // a silent hand is left out before the Lease says so
  kJoinUnlisted,   // a hand is in sync before it has listed the cluster
  kJoinBehind,     // a hand is in sync before it has the entries that left without it
  kKeepRefused,    // decisions that were not carried out stay in the logs of hands
  kEarlyFailure,   // work of a silent hand is reported as failed while it may still be sent
  kOutsideSet,     // a new leader adopts although the Lease does not name it as in sync
};

}  // namespace berth::hands

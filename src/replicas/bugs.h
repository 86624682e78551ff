// Bug: mistakes that a takeover could make, planted to see that a simulation finds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hands/mistake.h"

namespace berth::replicas {

enum class Bug : uint8_t {
  kNone,
  kEarlyBarrier,  // the successor begins one second before the Lease has run out
  kNoList,        // it decides on what its watches have shown
  kLateDeadline,  // the leader sends until its Lease has run out, not until its renew deadline
  kNoFence,       // what was decided is sent however late it is
  kNoTimeout,     // the server is not told how long it may take
  kDirtyRelease,  // the Lease is given up with requests under way
  // Of replicas that share work: hands::Mistake.
  kSendBeforeAck,
  kNoAdoption,
  kStaleFence,
  kKeepRefused,
  kDropUnwritten,
  kJoinUnlisted,
  kJoinBehind,
  kEarlyFailure,
  kOutsideSet,
};

// "none", "early-barrier", …
std::optional<Bug> BugCalled(std::string_view name);
// Nothing: it is not about sharing work.
hands::Mistake MistakeOf(Bug bug);

}  // namespace berth::replicas

#include "replicas/bugs.h"

#include <utility>

namespace berth::replicas {

std::optional<Bug> BugCalled(std::string_view name) {
  constexpr std::pair<std::string_view, Bug> kNames[] = {
      {"none", Bug::kNone},
      {"early-barrier", Bug::kEarlyBarrier},
      {"no-list", Bug::kNoList},
      {"late-deadline", Bug::kLateDeadline},
      {"no-fence", Bug::kNoFence},
      {"no-timeout", Bug::kNoTimeout},
      {"dirty-release", Bug::kDirtyRelease},
      {"send-before-ack", Bug::kSendBeforeAck},
      {"no-adoption", Bug::kNoAdoption},
      {"stale-fence", Bug::kStaleFence},
      {"keep-refused", Bug::kKeepRefused},
      {"drop-unwritten", Bug::kDropUnwritten},
      {"join-unlisted", Bug::kJoinUnlisted},
      {"join-behind", Bug::kJoinBehind},
      {"early-failure", Bug::kEarlyFailure},
      {"outside-set", Bug::kOutsideSet},
  };
  for (const auto& [known, bug] : kNames) {
    if (known == name) return bug;
  }
  return std::nullopt;
}

hands::Mistake MistakeOf(Bug bug) {
  switch (bug) {
    case Bug::kSendBeforeAck:
      return hands::Mistake::kSendBeforeAck;
    case Bug::kNoAdoption:
      return hands::Mistake::kNoAdoption;
    case Bug::kStaleFence:
      return hands::Mistake::kStaleFence;
    case Bug::kKeepRefused:
      return hands::Mistake::kKeepRefused;
    case Bug::kDropUnwritten:
      return hands::Mistake::kDropUnwritten;
    case Bug::kJoinUnlisted:
      return hands::Mistake::kJoinUnlisted;
    case Bug::kJoinBehind:
      return hands::Mistake::kJoinBehind;
    case Bug::kEarlyFailure:
      return hands::Mistake::kEarlyFailure;
    case Bug::kOutsideSet:
      return hands::Mistake::kOutsideSet;
    default:
      return hands::Mistake::kNone;
  }
}

}  // namespace berth::replicas

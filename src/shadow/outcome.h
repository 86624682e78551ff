// Outcome: what became of one comparison between the watched scheduler and berth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::shadow {

enum class Outcome : uint8_t {
  kSame,     // both chose this node, or both found none
  kTie,      // the chosen node has the same total as berth's
  kSampled,  // a better node existed; it was not among the nodes that kube-scheduler sampled
  kRace,     // equal on a state of the cluster within the lag window
  // Unexplained:
  kScoreGap,    // the chosen node has a lower total than berth's
  kInfeasible,  // berth's filters reject the chosen node
  kWeWait,      // they placed the pod, berth finds no node
  kTheyWait,    // they found no node, berth does
  kPreemption,  // both find no node, and preempt differently
};

inline constexpr size_t kOutcomes = 9;
inline constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "Same", "Tie", "Sampled", "Race", "ScoreGap", "Infeasible", "WeWait", "TheyWait", "Preemption"};

constexpr std::string_view NameOf(Outcome outcome) {
  return kOutcomeNames[static_cast<size_t>(outcome)];
}
constexpr bool IsExplained(Outcome outcome) { return outcome <= Outcome::kRace; }

}  // namespace berth::shadow

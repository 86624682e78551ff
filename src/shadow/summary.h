// Summary: what all comparisons of a run came to, for people (Markdown) and programs (JSON).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shadow/comparison.h"
#include "shadow/weights.h"

namespace berth::shadow {

// How often a plugin of berth rejected the node that the other scheduler chose.
struct PluginCount {
  std::string plugin;
  int64_t count = 0;

  static const api::TypeInfo& Type();
};

struct Counts {
  int64_t same = 0;
  int64_t tie = 0;
  int64_t sampled = 0;
  int64_t race = 0;
  int64_t score_gap = 0;
  int64_t infeasible = 0;
  int64_t we_wait = 0;
  int64_t they_wait = 0;
  int64_t preemption = 0;

  static const api::TypeInfo& Type();
};

struct Summary {
  // Unexplained comparisons that are kept as a whole; further ones are only counted.
  static constexpr size_t kMostKept = 1000;

  std::string server;
  std::string kubernetes_version;  // whose kube-scheduler berth is
  std::string from;                // RFC 3339
  std::string to;
  int64_t compared = 0;
  int64_t bound = 0;  // of those, pods that got a node
  int64_t unexplained = 0;
  int64_t unseen = 0;  // bindings that were not seen as they happened
  Counts outcomes;
  std::vector<WeightGuess> weights;     // that would explain score gaps
  std::vector<PluginCount> rejecting;   // plugins that reject nodes the other one chose
  std::vector<Comparison> differences;  // the unexplained ones

  void Add(const Comparison& comparison);
  // Fills in `weights` and `rejecting`.
  void Conclude();
  // A copy, for those who want to know often.
  Summary WithoutDifferences() const {
    Summary copy = *this;
    copy.differences.clear();
    return copy;
  }
  int64_t Count(Outcome outcome) const { return counts_[static_cast<size_t>(outcome)]; }

  static const api::TypeInfo& Type();

 private:
  std::array<int64_t, kOutcomes> counts_{};
  WeightGuesses guesses_;
  std::map<std::string, int64_t> rejecting_;
};

// What the differences have in common, one sentence each: a weight, a plugin.
std::vector<std::string> Suspicions(const Summary& summary);
std::string ToMarkdown(const Summary& summary);

}  // namespace berth::shadow

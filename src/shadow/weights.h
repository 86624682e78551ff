// Weights: which single change of a score plugin's weight would explain the score gaps seen.
//
// Every gap allows each plugin a range of weights under which the chosen node would have been the
// best one. The weight that lies in most ranges of one plugin is the likeliest difference between
// the two configurations; weight 0 stands for a plugin that is disabled.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/codec/schema.h"

namespace berth::shadow {

// Weights of a plugin, both ends included. Empty when first > last.
struct WeightRange {
  std::string plugin;
  int64_t ours = 0;
  int64_t first = 0;
  int64_t last = 0;
};

inline constexpr int64_t kMostWeight = 1'000'000;

// Narrows `range` to weights w >= 0 with total + (w - ours) * score >= 0, where `total` and `score`
// are how much the chosen node has more than another.
void Narrow(int64_t total, int64_t score, WeightRange* range);

// A weight that would explain gaps.
struct WeightGuess {
  std::string plugin;
  int64_t ours = 0;
  int64_t first = 0;  // the weights that explain most
  int64_t last = 0;
  int64_t explained = 0;  // gaps
  int64_t gaps = 0;       // that were seen

  static const api::TypeInfo& Type();
};

class WeightGuesses {
 public:
  void Add(const std::vector<WeightRange>& ranges);
  // Per plugin that explains a gap: most gaps first, then the smallest change of the weight.
  std::vector<WeightGuess> Best() const;

 private:
  struct Seen {
    int64_t ours = 0;
    std::map<int64_t, int64_t> steps;  // +1 where a range begins, -1 after its end
  };
  std::map<std::string, Seen> plugins_;
  int64_t gaps_ = 0;
};

}  // namespace berth::shadow

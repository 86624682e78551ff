#include "shadow/weights.h"

#include <algorithm>
#include <utility>

namespace berth::shadow {
namespace {

// Rounded up, for any sign. REQUIRES: b > 0.
int64_t CeilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
int64_t FloorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

const api::TypeInfo& WeightGuess::Type() {
  static const api::TypeInfo type = api::Describe<WeightGuess>("WeightGuess")
                                        .Always(1, "plugin", &WeightGuess::plugin)
                                        .Always(2, "ours", &WeightGuess::ours)
                                        .Always(3, "first", &WeightGuess::first)
                                        .Always(4, "last", &WeightGuess::last)
                                        .Always(5, "explained", &WeightGuess::explained)
                                        .Always(6, "gaps", &WeightGuess::gaps)
                                        .Build();
  return type;
}

void Narrow(int64_t total, int64_t score, WeightRange* range) {
  const int64_t without = total - range->ours * score;
  if (score > 0) {
    range->first = std::max(range->first, CeilDiv(-without, score));
  } else if (score < 0) {
    range->last = std::min(range->last, FloorDiv(without, -score));
  } else if (without < 0) {
    range->last = -1;
  }
}

void WeightGuesses::Add(const std::vector<WeightRange>& ranges) {
  ++gaps_;
  for (const WeightRange& range : ranges) {
    if (range.first > range.last) continue;
    Seen& seen = plugins_[range.plugin];
    seen.ours = range.ours;
    ++seen.steps[range.first];
    --seen.steps[range.last + 1];
  }
}

std::vector<WeightGuess> WeightGuesses::Best() const {
  std::vector<WeightGuess> guesses;
  for (const auto& [plugin, seen] : plugins_) {
    WeightGuess best{.plugin = plugin, .ours = seen.ours, .gaps = gaps_};
    int64_t depth = 0;
    for (auto it = seen.steps.begin(); it != seen.steps.end(); ++it) {
      depth += it->second;
      if (depth <= best.explained) continue;
      best.explained = depth;
      best.first = it->first;
      const auto next = std::next(it);
      best.last = next == seen.steps.end() ? kMostWeight : next->first - 1;
    }
    if (best.explained > 0) guesses.push_back(std::move(best));
  }
  const auto order = [](const WeightGuess& g) {
    const int64_t change =
        g.ours < g.first ? g.first - g.ours : std::max<int64_t>(0, g.ours - g.last);
    return std::pair(-g.explained, change);
  };
  std::stable_sort(guesses.begin(), guesses.end(),
                   [&](const WeightGuess& a, const WeightGuess& b) { return order(a) < order(b); });
  return guesses;
}

}  // namespace berth::shadow

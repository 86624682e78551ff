#include "plugins/node_resource_topology/numa_score.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/wrap.h"
#include "framework/points/plugin.h"

namespace berth::plugins::node_resource_topology {
namespace {

constexpr int64_t kMax = framework::kMaxNodeScore;

int64_t WeightOf(const Weights& weights, const std::string& name) {
  const auto it = weights.find(name);
  return it == weights.end() || it->second < 1 ? 1 : it->second;
}

const api::Quantity& AvailableOf(const Quantities& available, const std::string& name) {
  static const api::Quantity kNothing;
  const auto it = available.find(name);
  return it == available.end() ? kNothing : it->second;
}

int64_t Allocated(bool most, const api::Quantity& wanted, const api::Quantity& available) {
  if (available.IsZero() || wanted > available) return 0;
  const int64_t all = available.Value();
  const int64_t share = most ? wanted.Value() : WrapSub(all, wanted.Value());
  return all == 0 ? 0 : WrapDiv(WrapMul(share, kMax), all);
}

// As gonum computes it: of fewer than two values it is not a number.
double Variance(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  double compensation = 0;
  for (const double value : values) {
    const double distance = value - mean;
    squares += distance * distance;
    compensation += distance;
  }
  return (squares - compensation * compensation / n) / (n - 1);
}

int64_t Balanced(const Needs& needs, const Quantities& available) {
  std::vector<double> fractions;
  for (const auto& [name, wanted] : needs) {
    const int64_t all = AvailableOf(available, name).Value();
    const double fraction =
        all == 0 ? 1 : static_cast<double>(wanted.Value()) / static_cast<double>(all);
    if (fraction > 1) return 0;
    fractions.push_back(fraction);
  }
  return TruncToInt64((1 - Variance(fractions)) * static_cast<double>(kMax));
}

int64_t LowestOfCells(Strategy strategy, const Needs& needs, const NodeTopology& topology,
                      const Weights& weights) {
  int64_t lowest = 0;
  for (const NumaCell& cell : topology.cells) {
    const int64_t score = CellScore(strategy, needs, cell.available, weights);
    if (lowest == 0 || (score != 0 && score < lowest)) lowest = score;
  }
  return lowest;
}

}  // namespace

int64_t CellScore(Strategy strategy, const Needs& needs, const Quantities& available,
                  const Weights& weights) {
  if (strategy == Strategy::kBalanced) return Balanced(needs, available);
  int64_t sum = 0;
  int64_t sum_of_weights = 0;
  for (const auto& [name, wanted] : needs) {
    const int64_t weight = WeightOf(weights, name);
    const int64_t score =
        Allocated(strategy == Strategy::kMostAllocated, wanted, AvailableOf(available, name));
    sum = WrapAdd(sum, WrapMul(score, weight));
    sum_of_weights = WrapAdd(sum_of_weights, weight);
  }
  return sum_of_weights == 0 ? 0 : WrapDiv(sum, sum_of_weights);
}

int64_t ScoreByCells(Strategy strategy, const PodNeeds& pod, const NodeTopology& topology,
                     const Weights& weights) {
  if (topology.policy != Policy::kSingleNumaNode) return 0;
  if (topology.scope == Scope::kPod) return LowestOfCells(strategy, pod.pod, topology, weights);
  double sum = 0;
  for (const auto& [kind, needs] : pod.containers) {
    sum += static_cast<double>(LowestOfCells(strategy, needs, topology, weights));
  }
  return TruncToInt64(sum / static_cast<double>(pod.containers.size()));
}

// --- LeastNUMANodes

namespace {

constexpr int64_t kUnknownDistance = 255;

// Positions of cells, in order.
using Combination = std::vector<size_t>;

class Combiner {
 public:
  explicit Combiner(const NodeTopology& topology) : cells_(topology.cells) {}

  // No cell has any of it.
  bool IsElsewhere(const Needs& needs) const {
    for (const auto& [name, quantity] : needs) {
      for (const NumaCell& cell : cells_) {
        if (cell.available.contains(name)) return false;
      }
    }
    return true;
  }

  // The fewest cells that have all of it together, and of those the closest. False: all together
  // have too little. `closest`: no other cells of that number are closer, fitting or not.
  bool Find(const Needs& needs, Combination* found, bool* closest) const {
    for (size_t size = 1; size <= cells_.size(); ++size) {
      float least = static_cast<float>(kUnknownDistance);
      ForEachOf(size, [&](const Combination& c) {
        least = std::min(least, DistanceOf(c));
        return true;
      });
      float best = static_cast<float>(kUnknownDistance) + 1;
      bool any = false;
      *closest = false;
      ForEachOf(size, [&](const Combination& c) {
        if (!Suffices(needs, c)) return true;
        const float distance = DistanceOf(c);
        if (distance == least) {
          *found = c;
          any = *closest = true;
          return false;
        }
        if (distance < best) {
          best = distance;
          *found = c;
          any = true;
        }
        return true;
      });
      if (any) return true;
    }
    return false;
  }

  // How many cells of different numbers these are.
  int CountOf(const Combination& combination) const { return std::popcount(MaskOf(combination)); }

  // Takes as much as there is, cell after cell. As in the original a cell is looked up by its
  // number as if that were its position.
  void Take(const Needs& needs, const Combination& combination) {
    const uint64_t mask = MaskOf(combination);
    for (const auto& [name, wanted] : needs) {
      api::Quantity left = wanted;
      for (size_t at = 0; at < cells_.size(); ++at) {
        if ((mask >> at & 1) == 0 || left.IsZero()) continue;
        const auto it = cells_[at].available.find(name);
        if (it == cells_[at].available.end()) continue;
        if (left >= it->second) {
          left.Sub(it->second);
          it->second = api::Quantity();
        } else {
          it->second.Sub(left);
          left = api::Quantity();
        }
      }
    }
  }

 private:
  uint64_t MaskOf(const Combination& combination) const {
    uint64_t mask = 0;
    for (const size_t at : combination) mask |= uint64_t{1} << cells_[at].id;
    return mask;
  }

  // In lexicographic order, until `visit` returns false.
  template <class F>
  void ForEachOf(size_t size, F&& visit) const {
    Combination c(size);
    for (size_t i = 0; i < size; ++i) c[i] = i;
    while (visit(c)) {
      size_t i = size;
      while (i > 0 && c[i - 1] == cells_.size() - size + i - 1) --i;
      if (i == 0) return;
      ++c[i - 1];
      for (; i < size; ++i) c[i] = c[i - 1] + 1;
    }
  }

  float DistanceOf(const Combination& combination) const {
    int64_t sum = 0;
    for (const size_t from : combination) {
      for (const size_t to : combination) {
        const auto it = cells_[from].costs.find(cells_[to].id);
        sum = WrapAdd(sum, it == cells_[from].costs.end() ? kUnknownDistance : it->second);
      }
    }
    return static_cast<float>(sum) / static_cast<float>(combination.size() * combination.size());
  }

  // Every cell has some of each, and all together have enough.
  bool Suffices(const Needs& needs, const Combination& combination) const {
    for (const auto& [name, wanted] : needs) {
      api::Quantity sum;
      bool first = true;
      for (const size_t at : combination) {
        const auto it = cells_[at].available.find(name);
        if (it == cells_[at].available.end()) return false;
        if (first) {
          sum = it->second;
        } else {
          sum.Add(it->second);
        }
        first = false;
      }
      if (!wanted.IsZero() && sum < wanted) return false;
    }
    return true;
  }

  std::vector<NumaCell> cells_;  // what is left of them
};

int64_t ScoreOf(int cells, bool closest, int max_numa_nodes) {
  const int64_t step = kMax / max_numa_nodes;
  return kMax - cells * step + (closest ? step / 2 : 0);
}

}  // namespace

int64_t ScoreByNumber(const PodNeeds& pod, const NodeTopology& topology) {
  if (topology.cells.size() > kMostCombined) return 0;
  Combiner combiner(topology);
  Combination found;
  bool closest = false;
  if (topology.scope == Scope::kPod) {
    if (combiner.IsElsewhere(pod.pod)) return kMax;
    if (!combiner.Find(pod.pod, &found, &closest)) return 0;
    return ScoreOf(combiner.CountOf(found), closest, topology.max_numa_nodes);
  }
  int most = 0;
  bool all_closest = true;
  for (const auto& [kind, needs] : pod.containers) {
    if (combiner.IsElsewhere(needs)) continue;
    if (!combiner.Find(needs, &found, &closest)) return 0;
    all_closest = all_closest && closest;
    most = std::max(most, combiner.CountOf(found));
    combiner.Take(needs, found);
  }
  return most == 0 ? kMax : ScoreOf(most, all_closest, topology.max_numa_nodes);
}

}  // namespace berth::plugins::node_resource_topology

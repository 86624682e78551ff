// The allocation scores over 64 nodes at a time.
//
// Why doubles are exact here: the kernels run only on words where every amount is a non-negative
// integer below 2^46. Then 100 * amount is below 2^53, so sums and products are exact, and a
// quotient q = x / c with x <= 100 * c is rounded to an integer only if it is one: a true quotient
// just below an integer k differs from it by at least 1 / c > 2^-46, more than half a unit in the
// last place of any k <= 100.
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "base/vectorize.h"
#include "plugins/node_resources/allocation.h"

namespace berth::plugins::node_resources {
namespace {

using framework::NodeSet;
using framework::ScoreBatch;

constexpr size_t kLanes = NodeSet::kWordBits;
constexpr uint64_t kExactLimit = uint64_t{1} << 46;

// A resource of 64 consecutive nodes as doubles.
struct Lanes {
  alignas(32) double capacity[kLanes];
  alignas(32) double requested[kLanes];
};

// The double of an integer below 2^52: its bits placed under the exponent of 2^52, minus 2^52.
inline double ExactDouble(uint64_t x) {
  return std::bit_cast<double>(x | 0x4330000000000000ULL) - 4503599627370496.0;
}

// Fills `lanes`; false when some amount is out of the exact range.
BERTH_VECTORIZED bool LoadLanes(const ScoredResource& r, size_t first, Lanes* lanes) {
  const int64_t* allocatable = r.allocatable + first;
  const int64_t* used = r.used + first;
  const auto request = static_cast<uint64_t>(r.request);
  uint64_t seen = 0;
  for (size_t i = 0; i < kLanes; ++i) {
    const auto capacity = static_cast<uint64_t>(allocatable[i]);
    const uint64_t requested = static_cast<uint64_t>(used[i]) + request;
    seen |= capacity | requested;
    lanes->capacity[i] = ExactDouble(capacity);
    lanes->requested[i] = ExactDouble(requested);
  }
  return seen < kExactLimit;
}

// Adds the weighted scores of one resource, and its weight where the node has the resource.
BERTH_VECTORIZED void AddLeast(const Lanes& lanes, double weight, double* sum, double* weights) {
  for (size_t i = 0; i < kLanes; ++i) {
    const double c = lanes.capacity[i];
    const double free = c - lanes.requested[i];
    const double percent = free * 100.0 / (c > 0 ? c : 1.0);
    const double score = free > 0 ? static_cast<double>(static_cast<int32_t>(percent)) : 0.0;
    sum[i] += score * weight;
    weights[i] += c > 0 ? weight : 0.0;
  }
}

BERTH_VECTORIZED void AddMost(const Lanes& lanes, double weight, double* sum, double* weights) {
  for (size_t i = 0; i < kLanes; ++i) {
    const double c = lanes.capacity[i];
    const double requested = lanes.requested[i] < c ? lanes.requested[i] : c;
    const double percent = requested * 100.0 / (c > 0 ? c : 1.0);
    sum[i] += static_cast<double>(static_cast<int32_t>(percent)) * weight;
    weights[i] += c > 0 ? weight : 0.0;
  }
}

BERTH_VECTORIZED void StoreMean(const double* sum, const double* weights, int64_t* scores) {
  for (size_t i = 0; i < kLanes; ++i) {
    const double mean = sum[i] / (weights[i] > 0 ? weights[i] : 1.0);
    scores[i] = static_cast<int32_t>(mean);
  }
}

// Both fractions of nodes that have both resources; a node that lacks one is perfectly balanced.
BERTH_VECTORIZED void StoreBalanced(const Lanes& a, const Lanes& b, int64_t* scores) {
  for (size_t i = 0; i < kLanes; ++i) {
    const bool both = a.capacity[i] > 0 && b.capacity[i] > 0;
    double fa = a.requested[i] / (a.capacity[i] > 0 ? a.capacity[i] : 1.0);
    double fb = b.requested[i] / (b.capacity[i] > 0 ? b.capacity[i] : 1.0);
    fa = fa > 1 ? 1.0 : fa;
    fb = fb > 1 ? 1.0 : fb;
    const double deviation = both ? std::fabs((fa - fb) / 2) : 0.0;
    scores[i] = static_cast<int32_t>((1 - deviation) * 100.0);
  }
}

// Words with at most this many feasible nodes are scored one by one.
constexpr int kSparse = 8;

// Calls kernel(first row) for every well-filled word, and rule(node) for the nodes of the others
// and of words the kernel refuses.
template <class Kernel, class Rule>
void ForWords(ScoreBatch& batch, Kernel&& kernel, Rule&& rule) {
  int64_t* scores = batch.Scores();
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    const uint64_t word = batch.Word(w);
    if (word == 0) continue;
    if (std::popcount(word) > kSparse && kernel(w * kLanes)) continue;
    NodeSet::ForEachBit(word, w, [&](cluster::NodeIndex n) { scores[n] = rule(n); });
  }
}

template <class AddResource, class Rule>
void ScoreMeans(const std::vector<ScoredResource>& resources, ScoreBatch& batch, AddResource&& add,
                Rule&& rule) {
  ForWords(
      batch,
      [&](size_t first) {
        Lanes lanes;
        std::array<double, kLanes> sum{};
        std::array<double, kLanes> weights{};
        for (const ScoredResource& r : resources) {
          if (!LoadLanes(r, first, &lanes)) return false;
          add(lanes, static_cast<double>(r.weight), sum.data(), weights.data());
        }
        StoreMean(sum.data(), weights.data(), batch.Scores() + first);
        return true;
      },
      rule);
}

}  // namespace

void ScoreLeastAllocated(const std::vector<ScoredResource>& resources, ScoreBatch& batch) {
  ScoreMeans(resources, batch, AddLeast,
             [&](cluster::NodeIndex n) { return LeastAllocatedScore(resources, n); });
}

void ScoreMostAllocated(const std::vector<ScoredResource>& resources, ScoreBatch& batch) {
  ScoreMeans(resources, batch, AddMost,
             [&](cluster::NodeIndex n) { return MostAllocatedScore(resources, n); });
}

void ScoreRatio(const std::vector<ScoredResource>& resources, const UtilizationScores& shape,
                ScoreBatch& batch) {
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) { scores[n] = RatioScore(resources, shape, n); });
}

void ScoreBalanced(const std::vector<ScoredResource>& resources, ScoreBatch& batch) {
  ForWords(
      batch,
      [&](size_t first) {
        if (resources.size() != 2) return false;
        Lanes a;
        Lanes b;
        if (!LoadLanes(resources[0], first, &a) || !LoadLanes(resources[1], first, &b))
          return false;
        StoreBalanced(a, b, batch.Scores() + first);
        return true;
      },
      [&](cluster::NodeIndex n) { return BalancedScore(resources, n); });
}

}  // namespace berth::plugins::node_resources

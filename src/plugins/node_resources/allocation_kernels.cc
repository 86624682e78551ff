// The allocation scores over 64 nodes at a time.
//
// Why doubles are exact here: the kernels run only on words where every amount is a non-negative
// integer below 2^46. Then 100 * amount is below 2^53, so sums and products are exact, and a
// quotient q = x / c with x <= 100 * c is rounded to an integer only if it is one: a true quotient
// just below an integer k differs from it by at least 1 / c > 2^-46, more than half a unit in the
// last place of any k <= 100.
#include <bit>
#include <cstddef>

#include "base/vectorize.h"
#include "plugins/node_resources/allocation.h"

namespace berth::plugins::node_resources {
namespace {

using framework::NodeSet;
using framework::ScoreBatch;

constexpr size_t kLanes = NodeSet::kWordBits;
constexpr uint64_t kExactLimit = uint64_t{1} << 46;

// Four nodes at a time, spelled out: left to itself the compiler gives up on the conditions.
constexpr size_t kWidth = 4;
using Doubles = double __attribute__((vector_size(kWidth * sizeof(double)), may_alias));
using Ints = int32_t __attribute__((vector_size(kWidth * sizeof(int32_t))));
using Longs = int64_t __attribute__((vector_size(kWidth * sizeof(int64_t)), may_alias, aligned(8)));

// 64 numbers, one per node.
struct alignas(sizeof(Doubles)) Column {
  double at[kLanes] = {};

  // By reference: vectors are not passed by value, their calling convention depends on the target.
  const Doubles& Get(size_t i) const { return *reinterpret_cast<const Doubles*>(at + i); }
  Doubles& Get(size_t i) { return *reinterpret_cast<Doubles*>(at + i); }
};

// A resource of 64 consecutive nodes.
struct Lanes {
  Column capacity;
  Column requested;
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
    lanes->capacity.at[i] = ExactDouble(capacity);
    lanes->requested.at[i] = ExactDouble(requested);
  }
  return seen < kExactLimit;
}

// Towards zero. REQUIRES: within 32 bits.
#define BERTH_TRUNC(x) __builtin_convertvector(__builtin_convertvector((x), Ints), Doubles)

// Adds the weighted scores of one resource, and its weight where the node has the resource.
BERTH_VECTORIZED void AddLeast(const Lanes& lanes, double weight, Column& sum, Column& weights) {
  const Doubles zero = {};
  for (size_t i = 0; i < kLanes; i += kWidth) {
    const Doubles c = lanes.capacity.Get(i);
    const Doubles free = c - lanes.requested.Get(i);
    const Doubles percent = free * 100.0 / (c > zero ? c : zero + 1.0);
    const Doubles score = free > zero ? BERTH_TRUNC(free > zero ? percent : zero) : zero;
    sum.Get(i) += score * weight;
    weights.Get(i) += c > zero ? zero + weight : zero;
  }
}

BERTH_VECTORIZED void AddMost(const Lanes& lanes, double weight, Column& sum, Column& weights) {
  const Doubles zero = {};
  for (size_t i = 0; i < kLanes; i += kWidth) {
    const Doubles c = lanes.capacity.Get(i);
    const Doubles r = lanes.requested.Get(i);
    const Doubles percent = (r < c ? r : c) * 100.0 / (c > zero ? c : zero + 1.0);
    sum.Get(i) += BERTH_TRUNC(percent) * weight;
    weights.Get(i) += c > zero ? zero + weight : zero;
  }
}

BERTH_VECTORIZED void StoreMean(const Column& sum, const Column& weights, int64_t* scores) {
  const Doubles zero = {};
  for (size_t i = 0; i < kLanes; i += kWidth) {
    const Doubles w = weights.Get(i);
    const Doubles mean = sum.Get(i) / (w > zero ? w : zero + 1.0);
    *reinterpret_cast<Longs*>(scores + i) =
        __builtin_convertvector(__builtin_convertvector(mean, Ints), Longs);
  }
}

// Both fractions of nodes that have both resources; a node that lacks one is perfectly balanced.
BERTH_VECTORIZED void StoreBalanced(const Lanes& a, const Lanes& b, int64_t* scores) {
  const Doubles zero = {};
  const Doubles one = zero + 1.0;
  for (size_t i = 0; i < kLanes; i += kWidth) {
    const Doubles ca = a.capacity.Get(i);
    const Doubles cb = b.capacity.Get(i);
    Doubles fa = a.requested.Get(i) / (ca > zero ? ca : one);
    Doubles fb = b.requested.Get(i) / (cb > zero ? cb : one);
    fa = fa > one ? one : fa;
    fb = fb > one ? one : fb;
    const Doubles half = (fa - fb) / 2.0;
    const Doubles deviation = half < zero ? -half : half;
    const Doubles both = ca > zero ? (cb > zero ? deviation : zero) : zero;
    const Doubles score = (one - both) * 100.0;
    *reinterpret_cast<Longs*>(scores + i) =
        __builtin_convertvector(__builtin_convertvector(score, Ints), Longs);
  }
}

#undef BERTH_TRUNC

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
        Column sum;
        Column weights;
        for (const ScoredResource& r : resources) {
          if (!LoadLanes(r, first, &lanes)) return false;
          add(lanes, static_cast<double>(r.weight), sum, weights);
        }
        StoreMean(sum, weights, batch.Scores() + first);
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

namespace {

// False: the word must be scored node by node.
bool StoreBalancedWord(const std::vector<ScoredResource>& resources, size_t first,
                       int64_t* scores) {
  if (resources.size() != 2) return false;
  Lanes a;
  Lanes b;
  if (!LoadLanes(resources[0], first, &a) || !LoadLanes(resources[1], first, &b)) return false;
  StoreBalanced(a, b, scores);
  return true;
}

int64_t BalanceChange(int64_t with, int64_t without) {
  constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
  return kHalf + (kHalf + with - without) / 2;
}

}  // namespace

void ScoreBalanced(const std::vector<ScoredResource>& resources, ScoreBatch& batch) {
  ForWords(
      batch,
      [&](size_t first) { return StoreBalancedWord(resources, first, batch.Scores() + first); },
      [&](cluster::NodeIndex n) { return BalancedScore(resources, n); });
}

int64_t BalanceChangeScore(const std::vector<ScoredResource>& resources,
                           const std::vector<ScoredResource>& without, cluster::NodeIndex n) {
  return BalanceChange(BalancedScore(resources, n), BalancedScore(without, n));
}

void ScoreBalanceChange(const std::vector<ScoredResource>& resources,
                        const std::vector<ScoredResource>& without, ScoreBatch& batch) {
  ForWords(
      batch,
      [&](size_t first) {
        int64_t* with = batch.Scores() + first;
        alignas(64) int64_t before[kLanes];
        if (!StoreBalancedWord(resources, first, with) ||
            !StoreBalancedWord(without, first, before)) {
          return false;
        }
        for (size_t i = 0; i < kLanes; ++i) with[i] = BalanceChange(with[i], before[i]);
        return true;
      },
      [&](cluster::NodeIndex n) { return BalanceChangeScore(resources, without, n); });
}

}  // namespace berth::plugins::node_resources

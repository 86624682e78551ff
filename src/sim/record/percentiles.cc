#include "sim/record/percentiles.h"

#include <algorithm>
#include <cmath>

namespace berth::sim {
namespace {

// From 1 to `total`. Rounding must not lift a rank that is whole: 90 % of 10 are 9.
int64_t RankOf(double percent, int64_t total) {
  const double exact = percent * static_cast<double>(total) / 100.0;
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(exact - 1e-9)), 1, total);
}

}  // namespace

int64_t Percentile(const std::vector<int64_t>& sorted, double percent) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(RankOf(percent, static_cast<int64_t>(sorted.size()))) - 1];
}

int64_t CountedValues::Percentile(double percent) const {
  if (total_ == 0) return 0;
  int64_t left = RankOf(percent, total_);
  for (const auto& [value, count] : counts_) {
    left -= count;
    if (left <= 0) return value;
  }
  return counts_.rbegin()->first;
}

}  // namespace berth::sim

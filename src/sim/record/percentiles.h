// Percentiles by nearest rank: always a value that was measured.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace berth::sim {

// The smallest value that at least `percent` of all values do not exceed; 0 when there are none.
// REQUIRES: sorted; 0 < percent <= 100.
int64_t Percentile(const std::vector<int64_t>& sorted, double percent);

// The same of values that are counted.
class CountedValues {
 public:
  void Add(int64_t value) {
    ++counts_[value];
    ++total_;
  }
  int64_t Total() const { return total_; }
  int64_t Percentile(double percent) const;

 private:
  std::map<int64_t, int64_t> counts_;
  int64_t total_ = 0;
};

}  // namespace berth::sim

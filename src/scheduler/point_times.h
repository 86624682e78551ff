// PointTimes: how long the extension points of a cycle took, told by somebody who has a clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "framework/runtime/cycle_watch.h"

namespace berth::scheduler {

class PointTimes {
 public:
  // A point that runs several times adds up.
  void Add(framework::Point point, int64_t took_ns) {
    const auto i = static_cast<size_t>(point);
    ms_[i] += static_cast<float>(took_ns) * 1e-6F;
    timed_ = static_cast<uint16_t>(timed_ | 1U << i);
  }
  void Add(const PointTimes& other) {
    for (size_t i = 0; i < ms_.size(); ++i) ms_[i] += other.ms_[i];
    timed_ |= other.timed_;
  }
  // Forgets all points but one.
  void KeepOnly(framework::Point point) {
    for (size_t i = 0; i < ms_.size(); ++i) {
      if (i != static_cast<size_t>(point)) ms_[i] = 0;
    }
    timed_ = static_cast<uint16_t>(timed_ & 1U << static_cast<size_t>(point));
  }
  void Clear() {
    if (timed_ != 0) *this = PointTimes();
  }

  bool Empty() const { return timed_ == 0; }
  bool Has(framework::Point point) const { return (timed_ >> static_cast<size_t>(point) & 1) != 0; }
  // Milliseconds; 0 when it was not timed.
  double Ms(framework::Point point) const { return ms_[static_cast<size_t>(point)]; }

 private:
  std::array<float, framework::kPoints> ms_ = {};
  uint16_t timed_ = 0;  // a bit per point
};

}  // namespace berth::scheduler

// MemorySink: keeps a run in memory, as the segments that a directory would have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/segment.h"
#include "record/sink.h"

namespace berth::record {

class MemorySink final : public Sink {
 public:
  explicit MemorySink(size_t segment_bytes = size_t{64} << 20) : segment_bytes_(segment_bytes) {}

  bool Put(Batch&& batch) override {
    const std::string block = MakeBlock({batch.first_sequence, batch.first_time_ns}, batch.records);
    if (segments_.empty() || segments_.back().size() + block.size() > segment_bytes_) {
      segments_.push_back(SegmentHeader({1, static_cast<uint32_t>(segments_.size() + 1)}));
    }
    segments_.back() += block;
    return true;
  }
  void End(const std::string& reason) override { reason_ = reason; }

  // Of run 1.
  const std::vector<std::string>& Segments() const { return segments_; }
  const std::string& Reason() const { return reason_; }

 private:
  size_t segment_bytes_;
  std::vector<std::string> segments_;
  std::string reason_;
};

}  // namespace berth::record

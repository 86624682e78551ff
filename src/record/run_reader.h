// RunReader: the records of a run in order, up to its end or to the first damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/bytes.h"
#include "record/records.h"
#include "record/segment_files.h"

namespace berth::record {

class RunReader {
 public:
  // Reads files, one segment at a time.
  explicit RunReader(RunFiles run) : run_(std::move(run)) {}
  // Reads segments from memory.
  RunReader(uint32_t run, std::vector<std::string> segments);

  // The next record, good until the next call; null: the run is at its end. Fails at damage, at a
  // missing segment, and at what another version has written; there is no going on after that.
  Result<const Record*> Next();

  uint32_t Run() const { return run_.number; }
  // Of the record that Next returned last, from 1.
  uint64_t Sequence() const { return sequence_; }
  // Of the files: for progress.
  uint64_t BytesRead() const { return bytes_before_ + (reader_ ? reader_->Offset() : 0); }
  uint64_t TotalBytes() const;

 private:
  // False: there is none.
  Result<bool> NextSegment();
  Result<bool> NextBlock();

  RunFiles run_;
  std::vector<std::string> in_memory_;  // instead of the files' contents
  size_t next_segment_ = 0;
  uint64_t bytes_before_ = 0;
  std::string bytes_;  // of the segment
  std::optional<SegmentReader> reader_;
  std::string block_;
  ByteReader records_{{}};
  uint64_t sequence_ = 0;
  Record record_;
};

// Where the blocks of a run begin, in order, without reading what is in them; up to the first
// segment that cannot be opened or is cut.
std::vector<BlockInfo> BlocksOf(const RunFiles& run);

// When the last block that can be read begins, Unix, in nanoseconds. Absent: none can.
std::optional<int64_t> LastTimeOf(const RunFiles& run);

}  // namespace berth::record

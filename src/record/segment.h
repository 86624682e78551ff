// Segments: the files of a recording, made of compressed blocks with checksums.
//
//   segment   header, block, block, …
//   header    "BERTHREC", version (32 bits), run (32), number of the segment (32), CRC-32 of
//             these (32)
//   block     payload size (32), size before compression (32), first sequence number (64), time of
//             the engine (64), CRC-32 of these and of the payload (32), payload: one zstd frame
//
// Integers are little-endian. A block holds whole records (records.h); their sequence numbers
// follow each other without a gap across blocks and segments. docs/recording-format.md describes
// the format for others.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::record {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kSegmentHeaderSize = 24;
inline constexpr size_t kBlockHeaderSize = 28;
// Blocks are much smaller, unless a single record is larger than one block.
inline constexpr size_t kMaxBlockSize = 1u << 30;

// Which segment of which run of the scheduler; both count from 1.
struct SegmentId {
  uint32_t run = 0;
  uint32_t number = 0;

  auto operator<=>(const SegmentId&) const = default;
};

struct BlockInfo {
  uint64_t first_sequence = 0;
  int64_t time_ns = 0;  // Unix, of the engine, when the first record was made
};

std::string SegmentHeader(SegmentId id);

// Compresses records that follow each other into a block. Empty: there is no memory for it.
std::string MakeBlock(const BlockInfo& info, std::string_view records);

// Reads the blocks of one segment. The bytes outlive the reader.
class SegmentReader {
 public:
  // Fails when the header is damaged, of another version, or of another segment than `id`.
  static Result<SegmentReader> Open(std::string_view bytes, SegmentId id);

  // The next block's records, in `records`, which is reused. False: the segment is at its end.
  // Fails at a block that is cut or damaged; there is no going on after that.
  Result<bool> Next(std::string* records, BlockInfo* info);
  // The same without looking into the block: damage inside it goes unnoticed.
  bool Skip(BlockInfo* info);
  size_t Offset() const { return offset_; }

 private:
  explicit SegmentReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
  size_t offset_ = kSegmentHeaderSize;
};

}  // namespace berth::record

#include "record/segment.h"

#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "record/bytes.h"

namespace berth::record {
namespace {

constexpr std::string_view kMagic = "BERTHREC";
constexpr int kLevel = 3;
// Grown on the way: a damaged size alone must not make the reader allocate.
constexpr size_t kFirstOutput = 1u << 20;

uint32_t Checksum(std::string_view first, std::string_view second = {}) {
  const auto add = [](uLong crc, std::string_view bytes) {
    return crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  };
  return static_cast<uint32_t>(add(add(0, first), second));
}

struct DContext {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~DContext() { ZSTD_freeDCtx(context); }
};

// False: not one whole frame of `size` bytes.
bool Decompress(std::string_view payload, size_t size, std::string* out) {
  const DContext own;
  if (own.context == nullptr) return false;
  out->resize(std::min(size, kFirstOutput));
  ZSTD_inBuffer in{payload.data(), payload.size(), 0};
  size_t done = 0;
  for (;;) {
    ZSTD_outBuffer to{out->data(), out->size(), done};
    const size_t left = ZSTD_decompressStream(own.context, &to, &in);
    if (ZSTD_isError(left) != 0) return false;
    const bool stuck = to.pos == done && in.pos == in.size;
    done = to.pos;
    if (left == 0) return done == size && in.pos == in.size && (out->resize(done), true);
    if (done == out->size()) {
      if (done == size) return false;
      out->resize(std::min(size, 2 * out->size()));
    } else if (stuck) {
      return false;
    }
  }
}

}  // namespace

std::string SegmentHeader(SegmentId id) {
  std::string header(kMagic);
  ByteWriter writer(header);
  writer.Fixed32(kFormatVersion);
  writer.Fixed32(id.run);
  writer.Fixed32(id.number);
  writer.Fixed32(Checksum(header));
  return header;
}

std::string MakeBlock(const BlockInfo& info, std::string_view records) {
  std::string payload(ZSTD_compressBound(records.size()), '\0');
  const size_t size =
      ZSTD_compress(payload.data(), payload.size(), records.data(), records.size(), kLevel);
  if (ZSTD_isError(size) != 0) return {};
  payload.resize(size);
  std::string block;
  block.reserve(kBlockHeaderSize + size);
  ByteWriter writer(block);
  writer.Fixed32(static_cast<uint32_t>(size));
  writer.Fixed32(static_cast<uint32_t>(records.size()));
  writer.Fixed64(info.first_sequence);
  writer.Fixed64(static_cast<uint64_t>(info.time_ns));
  writer.Fixed32(Checksum(block, payload));
  return block + payload;
}

Result<SegmentReader> SegmentReader::Open(std::string_view bytes, SegmentId id) {
  if (bytes.size() < kSegmentHeaderSize) return Fail("cut within its header");
  if (bytes.substr(0, kMagic.size()) != kMagic) return Fail("not a segment of a recording");
  ByteReader reader(bytes.substr(kMagic.size(), kSegmentHeaderSize - kMagic.size()));
  const uint32_t version = reader.Fixed32();
  SegmentId found;
  found.run = reader.Fixed32();
  found.number = reader.Fixed32();
  if (reader.Fixed32() != Checksum(bytes.substr(0, kSegmentHeaderSize - 4))) {
    return Fail("the header is damaged: its checksum does not match");
  }
  if (version != kFormatVersion) {
    return Fail(
        fmt::format("format version {}; this berth reads version {}", version, kFormatVersion));
  }
  if (found != id) {
    return Fail(fmt::format("this is segment {} of run {}, renamed", found.number, found.run));
  }
  return SegmentReader(bytes);
}

bool SegmentReader::Skip(BlockInfo* info) {
  const std::string_view rest = bytes_.substr(offset_);
  if (rest.size() < kBlockHeaderSize) return false;
  ByteReader reader(rest.substr(0, kBlockHeaderSize));
  const uint32_t size = reader.Fixed32();
  reader.Fixed32();
  info->first_sequence = reader.Fixed64();
  info->time_ns = static_cast<int64_t>(reader.Fixed64());
  if (size > rest.size() - kBlockHeaderSize) return false;
  offset_ += kBlockHeaderSize + size;
  return true;
}

Result<bool> SegmentReader::Next(std::string* records, BlockInfo* info) {
  if (offset_ == bytes_.size()) return false;
  const auto damaged = [this](std::string_view how) {
    return Fail(fmt::format("block at byte {}: {}", offset_, how));
  };
  const std::string_view rest = bytes_.substr(offset_);
  if (rest.size() < kBlockHeaderSize) return damaged("cut within its header");
  ByteReader reader(rest.substr(0, kBlockHeaderSize));
  const uint32_t size = reader.Fixed32();
  const uint32_t raw_size = reader.Fixed32();
  info->first_sequence = reader.Fixed64();
  info->time_ns = static_cast<int64_t>(reader.Fixed64());
  const uint32_t checksum = reader.Fixed32();
  if (size > rest.size() - kBlockHeaderSize) return damaged("cut, or its size is damaged");
  const std::string_view payload = rest.substr(kBlockHeaderSize, size);
  if (checksum != Checksum(rest.substr(0, kBlockHeaderSize - 4), payload)) {
    return damaged("damaged: its checksum does not match");
  }
  if (raw_size > kMaxBlockSize) return damaged("larger than blocks are");
  if (!Decompress(payload, raw_size, records)) return damaged("cannot be decompressed");
  offset_ += kBlockHeaderSize + size;
  return true;
}

}  // namespace berth::record

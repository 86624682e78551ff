#include "record/run_reader.h"

#include <fmt/format.h>

#include "files/read.h"

namespace berth::record {

RunReader::RunReader(uint32_t run, std::vector<std::string> segments)
    : in_memory_(std::move(segments)) {
  run_.number = run;
  for (size_t i = 0; i < in_memory_.size(); ++i) {
    const SegmentId id{run, static_cast<uint32_t>(i + 1)};
    run_.segments.push_back({id, SegmentName(id), in_memory_[i].size()});
  }
}

uint64_t RunReader::TotalBytes() const {
  uint64_t total = 0;
  for (const SegmentFile& segment : run_.segments) total += segment.size;
  return total;
}

Result<bool> RunReader::NextSegment() {
  if (reader_) bytes_before_ += bytes_.size();
  reader_.reset();
  if (next_segment_ == run_.segments.size()) return false;
  const size_t index = next_segment_++;
  const SegmentFile& file = run_.segments[index];
  if (file.id.number != index + 1) {
    return Fail(SegmentName({run_.number, static_cast<uint32_t>(index + 1)}) + " is missing");
  }
  if (in_memory_.empty()) {
    auto bytes = files::ReadFile(file.path);
    if (!bytes) return Fail(bytes.error());
    bytes_ = std::move(*bytes);
  } else {
    bytes_ = in_memory_[index];
  }
  auto reader = SegmentReader::Open(bytes_, file.id);
  if (!reader) return Fail(reader.error().In(file.path));
  reader_ = std::move(*reader);
  return true;
}

Result<bool> RunReader::NextBlock() {
  for (;;) {
    if (!reader_) {
      auto more = NextSegment();
      if (!more || !*more) return more;
    }
    const std::string& path = run_.segments[next_segment_ - 1].path;
    const size_t offset = reader_->Offset();
    BlockInfo info;
    auto found = reader_->Next(&block_, &info);
    if (!found) return Fail(found.error().In(path));
    if (*found) {
      if (info.first_sequence == sequence_ + 1) return true;
      return Fail(fmt::format("{}: block at byte {}: it begins with record {}, not {}", path,
                              offset, info.first_sequence, sequence_ + 1));
    }
    auto more = NextSegment();
    if (!more || !*more) return more;
  }
}

Result<const Record*> RunReader::Next() {
  while (records_.AtEnd()) {
    auto more = NextBlock();
    if (!more) return Fail(more.error());
    if (!*more) return nullptr;
    records_ = ByteReader(block_);
  }
  auto record = DecodeRecord(records_);
  if (!record) {
    return Fail(record.error().In(fmt::format("run {}, record {}", run_.number, sequence_ + 1)));
  }
  ++sequence_;
  record_ = std::move(*record);
  return &record_;
}

std::vector<BlockInfo> BlocksOf(const RunFiles& run) {
  std::vector<BlockInfo> blocks;
  for (const SegmentFile& file : run.segments) {
    const auto bytes = files::ReadFile(file.path);
    if (!bytes) break;
    auto reader = SegmentReader::Open(*bytes, file.id);
    BlockInfo info;
    while (reader && reader->Skip(&info)) blocks.push_back(info);
    if (!reader || reader->Offset() != bytes->size()) break;
  }
  return blocks;
}

std::optional<int64_t> LastTimeOf(const RunFiles& run) {
  std::optional<int64_t> last;
  for (auto file = run.segments.rbegin(); file != run.segments.rend() && !last; ++file) {
    const auto bytes = files::ReadFile(file->path);
    if (!bytes) continue;
    auto reader = SegmentReader::Open(*bytes, file->id);
    std::string records;
    BlockInfo info;
    while (reader && reader->Next(&records, &info).value_or(false)) last = info.time_ns;
  }
  return last;
}

}  // namespace berth::record

#include "record/segment_files.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "record/bytes.h"

namespace berth::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".berthrec";

// Digits up to `end`, which is taken away too.
bool TakeNumber(std::string_view& text, std::string_view end, uint32_t* number) {
  uint64_t value = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    value = value * 10 + static_cast<uint64_t>(text[digits] - '0');
    if (value > UINT32_MAX) return false;
  }
  text.remove_prefix(digits);
  if (digits == 0 || !text.starts_with(end)) return false;
  text.remove_prefix(end.size());
  *number = static_cast<uint32_t>(value);
  return true;
}

std::optional<SegmentId> ParseName(std::string_view name) {
  constexpr std::string_view kStart = "run-";
  SegmentId id;
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  if (!TakeNumber(name, "-segment-", &id.run) || !TakeNumber(name, kEnding, &id.number)) {
    return std::nullopt;
  }
  if (!name.empty() || id.run == 0 || id.number == 0) return std::nullopt;
  return id;
}

}  // namespace

std::string SegmentName(SegmentId id) {
  return fmt::format("run-{:06}-segment-{:06}{}", id.run, id.number, kEnding);
}

Result<std::vector<RunFiles>> ListRuns(const std::string& dir) {
  std::error_code error;
  std::map<SegmentId, SegmentFile> found;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const auto id = ParseName(it->path().filename().string());
    if (!id) continue;
    std::error_code gone;
    const uint64_t size = it->file_size(gone);
    if (!gone) found[*id] = SegmentFile{*id, it->path().string(), size};
  }
  if (error) return Fail(fmt::format("cannot read {}: {}", dir, error.message()));
  std::vector<RunFiles> runs;
  for (auto& [id, file] : found) {
    if (runs.empty() || runs.back().number != id.run) runs.push_back({id.run, {}});
    runs.back().segments.push_back(std::move(file));
  }
  return runs;
}

std::optional<int64_t> BeginOf(const RunFiles& run) {
  if (run.segments.empty() || run.segments.front().id.number != 1) return std::nullopt;
  std::ifstream file(run.segments.front().path, std::ios::binary);
  std::string start(kSegmentHeaderSize + kBlockHeaderSize, '\0');
  if (!file.read(start.data(), static_cast<std::streamsize>(start.size()))) return std::nullopt;
  if (!SegmentReader::Open(start, run.segments.front().id)) return std::nullopt;
  constexpr size_t kTime = kSegmentHeaderSize + 16;  // behind the sizes and the sequence number
  return static_cast<int64_t>(ByteReader(std::string_view(start).substr(kTime)).Fixed64());
}

}  // namespace berth::record

// The files of a recording: which runs and segments there are in a directory.
//
//   DIR/run-000002-segment-000001.berthrec
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/segment.h"

namespace berth::record {

struct SegmentFile {
  SegmentId id;
  std::string path;
  uint64_t size = 0;
};

struct RunFiles {
  uint32_t number = 0;
  std::vector<SegmentFile> segments;  // in order
};

std::string SegmentName(SegmentId id);

// The runs in a directory, oldest first. Other files are ignored. Fails when it cannot be read.
Result<std::vector<RunFiles>> ListRuns(const std::string& dir);

// When the run began, Unix, in nanoseconds. Absent: its first segment is missing or damaged.
std::optional<int64_t> BeginOf(const RunFiles& run);

}  // namespace berth::record

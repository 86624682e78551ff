// Which run of a recording a command works on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "record/segment_files.h"

namespace berth::cli {

struct RunChoice {
  std::string dir;
  int64_t number = 0;              // 0: by time
  std::optional<int64_t> time_ns;  // the newest run that began by then; absent: the newest
};

// Errors name the directory and what it lacks.
Result<record::RunFiles> ChooseRun(const RunChoice& choice);

// Of a flag that takes a time.
Result<int64_t> ParseTime(const std::string& text);

}  // namespace berth::cli

#include "cli/replay/choose_run.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/time.h"

namespace berth::cli {

Result<record::RunFiles> ChooseRun(const RunChoice& choice) {
  auto runs = record::ListRuns(choice.dir);
  if (!runs) return Fail(runs.error());
  if (runs->empty()) return Fail("there is no recording in " + choice.dir);
  if (choice.number == 0 && !choice.time_ns) return std::move(runs->back());
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    if (choice.number != 0) {
      if (run->number == choice.number) return std::move(*run);
      continue;
    }
    const auto began = record::BeginOf(*run);
    if (began && *began <= *choice.time_ns) return std::move(*run);
  }
  if (choice.number != 0) {
    return Fail(
        fmt::format("there is no run {} in {} (--list shows them)", choice.number, choice.dir));
  }
  return Fail(fmt::format("no run in {} began by {} (berth replay {} --list shows them)",
                          choice.dir, api::Time::FromUnixNano(*choice.time_ns).FormatNano(),
                          choice.dir));
}

Result<int64_t> ParseTime(const std::string& text) {
  const auto time = api::Time::Parse(text);
  if (!time) {
    return Fail(fmt::format("\"{}\" is not a time such as 2026-05-01T12:00:00Z", text));
  }
  return time->UnixNano();
}

}  // namespace berth::cli

// `berth scheduler`: see scheduler.h.
#include "cli/scheduler/scheduler.h"

#include <malloc.h>

#include "cli/scheduler/process.h"

namespace berth::cli {
namespace {

namespace cmd = scheduler;

// Objects come and go by the thousand. Left to itself glibc's allocator (where berth is built
// without mimalloc) gives memory back to the kernel in steps of 128 KiB and asks for it again a
// moment later, which was a third of the time that the kernel spent on this process.
void KeepMemory() {
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

int Failed(const Error& error) { return cmd::Report({.code = 1, .failure = error.Message()}); }

}  // namespace

int Scheduler(const std::vector<std::string>& args) {
  KeepMemory();
  auto flags = cmd::ParseFlags(args);
  if (!flags) return cmd::Report(flags.error());
  auto options = cmd::Complete(**flags, cmd::ChooseKubernetes(**flags));
  if (!options) return cmd::Report(options.error());
  const auto remake = [&](int minor) -> Result<cmd::SchedulerOptions> {
    auto again = cmd::InMinor(**flags, *options, minor);
    if (again) options->told = again->told;
    return again;
  };
  auto process = cmd::Process::Make(*options, remake);
  if (!process) return Failed(process.error());
  auto written = cmd::LogOrWriteConfig(*options, (*process)->EffectiveConfig());
  if (!written) return Failed(written.error());
  if (*written) return 0;
  auto code = (*process)->Run();
  if (!code) return Failed(code.error());
  return *code;
}

}  // namespace berth::cli

// `berth scheduler`: see scheduler.h.
#include "cli/scheduler/scheduler.h"

#include "cli/scheduler/process.h"

namespace berth::cli {
namespace {

namespace cmd = scheduler;

int Failed(const Error& error) { return cmd::Report({.code = 1, .failure = error.Message()}); }

}  // namespace

int Scheduler(const std::vector<std::string>& args) {
  auto flags = cmd::ParseFlags(args);
  if (!flags) return cmd::Report(flags.error());
  auto options = cmd::Complete(**flags);
  if (!options) return cmd::Report(options.error());
  const auto reload = [&]() -> Result<config::KubeSchedulerConfiguration> {
    cmd::SchedulerOptions again = *options;
    auto loaded = cmd::LoadConfig(**flags, again);
    options->told = std::move(again.told);
    if (!loaded) return Fail(loaded.error());
    return again.config;
  };
  auto process = cmd::Process::Make(*options, reload);
  if (!process) return Failed(process.error());
  auto written = cmd::LogOrWriteConfig(*options, (*process)->EffectiveConfig());
  if (!written) return Failed(written.error());
  if (*written) return 0;
  auto code = (*process)->Run();
  if (!code) return Failed(code.error());
  return *code;
}

}  // namespace berth::cli

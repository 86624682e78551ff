// Process: the scheduler's parts, from credentials to leadership, and the order they start and end.
//
//   main thread    waits for signals
//   loop thread    talks to the API server: watches, writes, the Lease
//   engine thread  decides (SchedulerHost)
//   server thread  answers on the secure port (server::Server)
#pragma once

#include <memory>

#include "cli/scheduler/options.h"
#include "cli/scheduler/reloader.h"

namespace berth::cli::scheduler {

class Process {
 public:
  // Reads credentials and makes every part: mistakes in flags, files and plugins show here, before
  // anything has been sent.
  // `remake`: the same options in Kubernetes 1.`minor`, with the file of --config read again.
  using Remake = std::function<Result<SchedulerOptions>(int minor)>;
  static Result<std::unique_ptr<Process>> Make(SchedulerOptions options, Remake remake);
  virtual ~Process() = default;

  // What the profiles were built from, for --write-config-to.
  virtual const config::KubeSchedulerConfiguration& EffectiveConfig() const = 0;
  // Runs until a signal or the loss of the Lease; the exit code. An error: it could not start.
  virtual Result<int> Run() = 0;
};

}  // namespace berth::cli::scheduler

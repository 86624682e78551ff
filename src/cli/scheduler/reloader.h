// Reloader: takes up a changed configuration file without a restart.
//
// On SIGHUP, or when the contents of the file have changed (a ConfigMap's symbolic link swapped
// included), the file is read, checked and built as at start-up. A file with a mistake is refused
// and logged, and the running configuration goes on. What can change live is the engine's part:
// profiles, plugins, weights, arguments, backoffs, percentageOfNodesToScore. The rest is named in
// the log and waits for a restart. An upgrade of the API server is taken up the same way.
#pragma once

#include <functional>
#include <string>

#include "cli/scheduler/options.h"
#include "kube/host/scheduler_host.h"
#include "net/loop.h"
#include "server/metrics/registry.h"

namespace berth::cli::scheduler {

// What differs between two configurations and cannot be changed while running: field names.
std::vector<std::string> NeedsRestart(const config::KubeSchedulerConfiguration& running,
                                      const config::KubeSchedulerConfiguration& wanted);

class Reloader {
 public:
  // Reads the file of --config, with what the flags put over it.
  using Load = std::function<Result<config::KubeSchedulerConfiguration>()>;
  // Told what is in force from now on.
  using Taken = std::function<void(const config::KubeSchedulerConfiguration& effective)>;

  // All outlive the reloader.
  Reloader(net::Loop& loop, kube::SchedulerHost& host, server::Registry& registry, std::string file,
           config::KubeSchedulerConfiguration running, config::ResolveOptions resolve, Load load,
           Taken taken);

  // Looks at the file now and every few seconds from now on. On the loop's thread.
  void Start();
  // Reads the file now, changed or not. On the loop's thread.
  void Reload();
  // What is loaded and resolved differently from now on has been taken up. On the loop's thread.
  void Took(config::KubeSchedulerConfiguration running, config::ResolveOptions resolve) {
    running_ = std::move(running);
    resolve_ = std::move(resolve);
  }

 private:
  void LookSoon();
  void LookForChange();
  Result<void> TakeUp();

  net::Loop& loop_;
  kube::SchedulerHost& host_;
  server::CounterFamily& reloads_;
  const std::string file_;
  const config::KubeSchedulerConfiguration started_;  // what the rest of the process runs with
  config::KubeSchedulerConfiguration running_;
  config::ResolveOptions resolve_;  // with the plugins there are
  const Load load_;
  const Taken taken_;
  std::string contents_;
};

}  // namespace berth::cli::scheduler

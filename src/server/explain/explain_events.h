// ExplainEvents: an Event for every pod that is found unschedulable, with the verdicts by plugin
// and what would help.
//
// Once a second the newest failed attempts are looked up in the engine's records, on its thread;
// suggestions are worked out on a thread of its own, on a copy of the cluster. A pod is told about
// again when what its attempt said has changed. At most kPodsPerLook pods a second: who does not
// get a turn before newer records push theirs out is left out.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "explain/report.h"
#include "scheduler/effects.h"
#include "scheduler/engine.h"

namespace berth::server {

struct ExplainEventsOptions {
  // As in ExplainOptions, down to the plugins.
  std::function<void(std::function<void(scheduler::Engine&)>)> on_engine;
  std::function<bool()> ready;
  std::function<config::KubeSchedulerConfiguration()> config;
  config::Behaviour behaviour = {};
  std::vector<scheduler::ExtraPlugin> plugins = {};
  // Writes an event; called on the own thread.
  std::function<void(const scheduler::RecordEvent&)> record;
  std::chrono::milliseconds period = std::chrono::seconds(1);
};

class ExplainEvents {
 public:
  static constexpr size_t kPodsPerLook = 10;

  // Starts its thread.
  explicit ExplainEvents(ExplainEventsOptions options);
  // Stops.
  ~ExplainEvents();
  ExplainEvents(const ExplainEvents&) = delete;
  ExplainEvents& operator=(const ExplainEvents&) = delete;

  // Ends the thread. The engine may go afterwards.
  void Stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// The longest note the API server takes.
inline constexpr size_t kMaxNote = 1024;

// "0/5 nodes fit. NodeResourcesFit: 3 Insufficient cpu. … Would help: fits on 2 nodes if …". Of
// many reasons those of the most nodes. `help` may be empty.
std::string ExplainNote(int64_t nodes, const std::vector<explain::Rejection>& rejections,
                        std::string_view help);

}  // namespace berth::server

// ExplainApi: /apis/explain/v1 over HTTP (docs/explain.md).
//
// Fits any server that takes mounts. What is asked about the engine is asked on its thread between
// two cycles; what takes longer (suggestions, what-ifs) runs on a thread of the API's own, on a
// copy of the cluster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "explain/cluster_copy.h"
#include "explain/groups/report.h"
#include "explain/report.h"
#include "scheduler/engine.h"
#include "server/http/mount.h"

namespace berth::server {

inline constexpr std::string_view kExplainPrefix = "/apis/explain/v1";

struct ExplainOptions {
  // Runs a task on the engine's thread. Empty: there is no engine (yet).
  std::function<void(std::function<void(scheduler::Engine&)>)> on_engine = {};
  // Whether the engine knows the cluster and decides; called on the serving thread. Empty: always.
  std::function<bool()> ready = {};
  // The time, Unix, in nanoseconds; from any thread. Empty: that of the machine.
  std::function<int64_t()> now = {};
  // The configuration in force. From any thread.
  std::function<config::KubeSchedulerConfiguration()> config = {};
  config::Behaviour behaviour = {};
  // Answers a what-if; runs on the API's own thread. Empty: there are none.
  std::function<Result<explain::WhatIfResult>(const explain::ClusterCopy&,
                                              const config::KubeSchedulerConfiguration&,
                                              const explain::WhatIfRequest&)>
      what_if = {};
  // The same, for the pod groups of a what-if.
  std::function<Result<explain::WhatIfGroups>(const explain::ClusterCopy&,
                                              const config::KubeSchedulerConfiguration&,
                                              const explain::WhatIfRequest&)>
      what_if_groups = {};
  // Answers a question about nodes that are to go or to come (docs/plans.md), JSON to JSON; runs on
  // the API's own thread. Empty: there are no plans.
  std::function<Result<std::string>(const config::KubeSchedulerConfiguration&,
                                    const std::string& body)>
      plan = {};
  // That the configuration may name, besides those in-tree. Trials make objects of their own.
  std::vector<scheduler::ExtraPlugin> plugins = {};
};

class ExplainApi {
 public:
  ExplainApi();
  // Stops.
  ~ExplainApi();
  ExplainApi(const ExplainApi&) = delete;
  ExplainApi& operator=(const ExplainApi&) = delete;

  // From now on there is an engine. From any thread.
  void Attach(ExplainOptions options);
  // Ends the own thread and all streams. The engine may go afterwards.
  void Stop();

  // As Mount::handle. REQUIRES: the path is the prefix or below it.
  void Handle(Request request, Respond respond, const Post& post);
  // Keeps what it needs of the API alive.
  Mount MakeMount();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::server

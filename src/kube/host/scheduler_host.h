// SchedulerHost: the engine in a real cluster.
//
// Two threads. The loop's thread watches all kinds, decodes what comes and carries out effects; the
// engine's thread decides. They meet in a Mailbox one way and in Loop::Post the other, so decoding
// never holds up a decision, and a slow API server does only when a thousand requests wait for it.
//
//   watches ─▶ Reflector ─▶ Mailbox ─▶ Engine ─▶ effects ─▶ Loop::Post ─▶ EffectRunner ─▶ requests
//                              ▲                                              │
//                              └────────────────── results ◀──────────────────┘
//
// Calls to extenders go the same way, to an ExtenderCaller instead; the engine's thread never waits
// for them, it only decides nothing else until they are answered.
//
// Watching starts at once; pods are scheduled between StartScheduling and Stop, so that a standby
// knows the cluster when it takes over. What its watches may not have shown yet it lists then.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "framework/points/executor.h"
#include "kube/client/api_client.h"
#include "kube/client/fence.h"
#include "kube/election/leader_elector.h"
#include "kube/extender/extender_caller.h"
#include "kube/host/other_pods.h"
#include "kube/metrics/load_poller.h"
#include "kube/write/event_recorder.h"
#include "net/loop.h"
#include "scheduler/engine.h"
#include "scheduler/tap.h"

namespace berth::kube {

class WorkSharing;

struct SchedulerHostOptions {
  config::KubeSchedulerConfiguration config;
  scheduler::EngineOptions engine;
  std::string host_name;  // for events
  // Longest pause of the loop while many requests are unanswered (net/pause_policy.h). Changes
  // speed.
  net::Nanoseconds longest_pause = std::chrono::milliseconds(2);
  bool traces_latency = false;  // logs when each pod passed which hop
  // For calls to extenders, on the host's loop. Without it configurations with extenders are
  // refused.
  HttpClientFactory make_http_client;
  // May be null; used on the engine's thread and outlive the host.
  framework::Executor* executor = nullptr;
  const Fence* fence = nullptr;  // nothing is decided beyond it
  bool marks_bindings = false;   // with the epoch of the succession
  // Gives effects to other replicas and carries out theirs. May be null: all effects are carried
  // out here. Outlives the host.
  WorkSharing* work = nullptr;
  scheduler::EngineObserver* observer = nullptr;
  scheduler::EngineTap* tap = nullptr;  // receives what the engines take in and return
  // A source of metrics was asked for the load of nodes. On the loop's thread; may be null.
  LoadPolled load_polled;
  // The API server is there again after it could not be reached. On the loop's thread; may be null.
  std::function<void()> reconnected;
};

// An engine that is to take over.
struct NextEngine {
  std::unique_ptr<scheduler::Engine> engine;
  config::Behaviour behaviour;
  config::KubeSchedulerConfiguration config;
  api::Time made;
  std::vector<config::MetricsSource> metrics_sources = {};
};

class SchedulerHost {
 public:
  // Makes the engine; the plugins' errors come from here. `loop` and `client` outlive the host, and
  // the loop has been stopped when the host is destroyed.
  static Result<std::unique_ptr<SchedulerHost>> Make(net::Loop& loop, ApiClient& client,
                                                     SchedulerHostOptions options);
  virtual ~SchedulerHost() = default;

  // Starts the engine's thread and the watches.
  virtual void Start() = 0;
  // From now on pods are scheduled, as soon as all kinds are known. After another replica: not
  // before nothing it sent can be executed any more, and what schedulers write has been listed
  // since then, from a server that is up to date. From any thread.
  virtual void StartScheduling(const Succession& succession = {}) = 0;
  // Requests of the engine that have no answer yet. On the loop's thread.
  virtual size_t Outstanding() const = 0;
  // Another engine takes over, with another configuration or behaviour: as soon as nothing is under
  // way any more, at the latest after `patience`. It learns the cluster from new lists, of the
  // kinds that its behaviour asks for; all pending pods are tried again. From any thread.
  virtual void Replace(NextEngine next, net::Nanoseconds patience) = 0;
  // An engine equal to the one at work takes over, in the same way but only at a moment when
  // nothing is in flight and no pod is ready to be tried. For a recording that is to go on from
  // here without what came before. From any thread; may be called again while it waits.
  virtual void Renew() = 0;
  // For Replace: an engine with the host's options, `config` and `behaviour`.
  virtual Result<NextEngine> MakeEngine(const config::KubeSchedulerConfiguration& config,
                                        const config::Behaviour& behaviour) const = 0;
  // Ends the engine's thread: what it has decided is still handed to the loop. No decision after.
  virtual void Stop() = 0;

  // All kinds have been listed and the engine has taken them up; stays so. From any thread.
  virtual bool Synced() const = 0;
  // Fails when some kind cannot be followed any more, and names it. From any thread.
  virtual Result<void> Followed() const = 0;
  // Runs `task` on the engine's thread between two cycles. From any thread.
  virtual void Do(std::function<void(scheduler::Engine&)> task) = 0;
  // Pods the engine does not know of. On the engine's thread.
  virtual const OtherPods& Others() const = 0;
  virtual EventRecorder& Events() = 0;
};

}  // namespace berth::kube

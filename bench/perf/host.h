// PerfHost: an engine and a model of the API server in one process and in virtual time.
//
// Every change reaches the engine at once, every effect is carried out at once: nothing waits for a
// network. Only the CPU time the engine takes is measured (events, cycles, results); what the API
// server's model and the makers of objects take is not. A scheduling cycle takes a fixed length of
// virtual time, so that what a workload does by the clock happens as often in every run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/function_ref.h"
#include "config/config.h"
#include "framework/points/executor.h"
#include "scheduler/engine.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::bench {

// Which pods count.
struct PodPick {
  std::set<std::string> namespaces;  // empty: all
  api::StringMap labels;
  bool Takes(const api::Pod& pod) const;
};

struct PerfCounters {
  double engine_seconds = 0;  // all of the engine
  double cycle_seconds = 0;   // scheduling cycles only
  int64_t attempts = 0;
  int64_t failed_attempts = 0;
  int64_t bound = 0;  // pods of the pick
};

class PerfHost : private scheduler::EngineObserver {
 public:
  // Virtual time of one scheduling cycle.
  static constexpr sim::Nanos kCycleTime = sim::kMillisecond;

  // `executor` may be null and outlives the host.
  static Result<std::unique_ptr<PerfHost>> Make(const config::KubeSchedulerConfiguration& config,
                                                const config::Behaviour& behaviour,
                                                const scheduler::AlgorithmOptions& algorithm,
                                                framework::Executor* executor);

  sim::ModelApi& Api() { return api_; }
  const sim::ModelApi& Api() const { return api_; }
  sim::EventLoop& Loop() { return loop_; }

  // What the API server and its controllers do: defaults, a name from generateName, claims from
  // templates. The object's name.
  Result<std::string> Create(api::Object object);
  // With the pod's grace period; a pod with finalizers stays, marked.
  void DeletePod(const scheduler::PodRef& pod);

  // Runs until `done` or until nothing has come of waiting for `patience` of virtual time. Whether
  // `done`; it is asked after every cycle.
  bool RunUntil(FunctionRef<bool()> done, sim::Nanos patience);
  // Runs until the engine has tried all it can try now, or for so long. Time passes only by cycles.
  void RunToIdle(sim::Nanos longest);
  // Runs for so long.
  void RunFor(sim::Nanos length);

  // Pods of the namespace that have a node.
  int64_t Scheduled(const std::string& namespace_) const;
  // Pods bound so far, in all.
  int64_t BoundPods() const { return bound_; }
  // Pods of the pick without a node; gated ones are left out.
  int64_t WithoutNode(const PodPick& pick) const;

  // Counters start at 0, for pods of the pick.
  void StartCollecting(PodPick pick);
  const PerfCounters& Counters() const { return counters_; }

  ~PerfHost() override;

 private:
  PerfHost();

  void Attempted(const cluster::Pod&, scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;

  void OnChange(const sim::ApiChange& change);
  void CountPod(const sim::ApiChange& change);
  void MakeClaims(const std::string& namespace_, const std::string& name);
  // Carries out what the engine asks for, until it asks for nothing.
  void CarryOutAll();
  scheduler::EffectResult CarryOut(const scheduler::Effect& effect);
  // One cycle. False: nothing to try now.
  bool Step();
  // Goes to the next moment at which something happens, at most to `limit`.
  void Wait(sim::Nanos limit);

  sim::EventLoop loop_;
  sim::ModelApi api_;
  std::unique_ptr<scheduler::Engine> engine_;
  std::set<std::string_view> watched_;  // kinds
  uint64_t next_name_ = 0;
  int64_t bound_ = 0;
  std::map<std::string, int64_t, std::less<>> scheduled_;
  PodPick pick_;
  PerfCounters counters_;
};

}  // namespace berth::bench

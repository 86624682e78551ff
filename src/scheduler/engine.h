// Engine: the scheduler as one deterministic machine.
//
// Takes inputs (object events, results of effects, time) and returns effects (bind, patch status,
// delete victim, record event, …). No I/O, no clock, no threads: the same inputs in the same order
// give the same effects. A host drives it:
//
//   for (;;) {
//     engine.AdvanceTo(now); engine.Upsert(...); engine.Complete(...);   // what happened
//     while (engine.Step()) {}                                          // decide
//     for (Effect& effect : engine.TakeEffects()) carry it out, later Complete it;
//     sleep until something happens or engine.NextWake();
//   }
//
// Inputs may come late, twice and in any order across kinds. Within a kind the host keeps the API
// server's order; after a broken watch it hands the whole list to Replace.
//
// A cycle about which extenders are asked (CallExtender) waits for their answers. Until then no
// other is begun, and inputs other than the answers and the time are kept for later. So a host must
// answer every call, if need be with an error when the extender's time is up.
//
// A pod that the API server has not given a node is in exactly one place: a queue of the
// SchedulingQueue, in flight, waiting (Permit), or binding. Invariants() checks that and more.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/check.h"
#include "config/config.h"
#include "framework/points/executor.h"
#include "queue/scheduling_queue.h"
#include "scheduler/algorithm.h"
#include "scheduler/decisions/source.h"
#include "scheduler/effects.h"
#include "scheduler/list_part.h"
#include "scheduler/observer.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

// Bugs that tests switch on to see that invariants are able to fail.
enum class PlantedBug : uint8_t {
  kNone,
  kLostRequeue,   // now and then a pod that found no node is not queued again
  kDoubleAssume,  // a pod that is being bound is queued a second time
  kMissedForget,  // a pod whose binding failed keeps its place on the node
  kSplitGang,     // now and then those pods of a gang that fit are kept although too few do
};

struct EngineOptions {
  AlgorithmOptions algorithm;
  // Changes results: the one the configuration was loaded with.
  config::Behaviour behaviour = {};
  // Changes results: --pod-max-in-unschedulable-pods-duration.
  int64_t max_in_unschedulable_ns = 300'000'000'000;
  // Changes results: how long a bound pod is believed in without the watch showing it. 0: forever.
  int64_t assumed_ttl_ns = 0;
  // Changes results: whether the extenders of the configuration are called. Without, what they
  // manage is still not counted.
  bool call_extenders = true;
  // Changes results: plugins of the host's own.
  std::vector<ExtraPlugin> extra_plugins = {};
  // Changes speed only: look for contradictions after every input, on large clusters after every
  // few. Invariants() has what was found.
  bool check_inputs = kDebugChecks;
  PlantedBug planted_bug = PlantedBug::kNone;
};

class Engine {
 public:
  // Makes the plugins of every profile. `executor` and `observer` may be null and outlive the
  // engine.
  static Result<std::unique_ptr<Engine>> Make(const config::KubeSchedulerConfiguration& config,
                                              const EngineOptions& options, const api::Time& now,
                                              framework::Executor* executor = nullptr,
                                              EngineObserver* observer = nullptr);
  ~Engine();

  // --- Inputs
  // Time has passed. Never goes back: an earlier time counts as the latest one.
  void AdvanceTo(const api::Time& now);
  // The object was added or changed. Kinds that scheduling does not read are ignored, and so is a
  // version that is not newer than the known one.
  void Upsert(api::Object object);
  // The pod has a node, and spec, labels and owners of its last version: `pod` comes without spec
  // but for node_name and scheduler_name. Ignored when the pod is not known.
  void UpdateStatus(api::Pod pod);
  // The object is gone; only its kind, namespace, name and uid are looked at.
  void Delete(const api::Object& object);
  // The list of all objects of a kind, after a watch broke: what is not in it is gone. When it
  // comes in parts that is so after the last one, and pods may be tried before.
  void Replace(std::string_view kind, std::vector<api::Object> objects,
               ListPart part = ListPart::kWhole);
  // Measured load of a node, with its time. Plugins read it from the cluster; it wakes no pod.
  void UpdateNodeMetrics(std::string_view node, cluster::NodeMetrics metrics);
  // What came of an effect. Unknown ids are ignored: the effect was reported before, or nobody
  // waits for it any more.
  void Complete(EffectResult result);

  // --- Work
  // Runs one scheduling cycle. False: no pod can be tried now.
  bool Step();
  // What is to be done since the last call, in order.
  std::vector<Effect> TakeEffects();
  // When AdvanceTo has something to do; nothing: only another input can help.
  std::optional<api::Time> NextWake() const;

  // --- Permit
  // A plugin that said Wait allows the pod, or rejects it. False: the pod does not wait for it.
  bool Allow(std::string_view pod_uid, std::string_view plugin);
  bool Reject(std::string_view pod_uid, std::string_view plugin, std::string_view message);

  // --- What there is
  const cluster::Cluster& GetCluster() const;
  const queue::SchedulingQueue& Queue() const;
  // Those that CallExtender speaks of, in the order of use.
  const std::vector<config::Extender>& Extenders() const;
  size_t PendingPods(queue::QueueName queue) const { return Queue().Count(queue); }
  // Pods with a node that the API server has not confirmed yet.
  size_t AssumedPods() const;
  // Pods between the scheduling cycle and the result of their binding.
  size_t BindingPods() const;
  // Effects whose results the engine waits for, and those of them that are for the API server and
  // not for an extender.
  size_t AwaitedEffects() const;
  size_t AwaitedRequests() const;
  // No pod can be tried before the answer to something that was asked for a pod: of an extender, or
  // about victims where those are waited for.
  bool WaitsForAnswer() const;
  // How many pods came into which queue because of which event, since the engine was made.
  const std::vector<EventMoves>& IncomingPods() const;
  // By number, in the order of the configuration; its cycle has the plugins and what they were
  // asked.
  size_t ProfileCount() const;
  const framework::Cycle& CycleOf(size_t profile) const;
  // Where the pod is, for dumps: a queue's name, "in-flight", "waiting", "binding", "assumed",
  // "assigned"; empty: the engine does not know it.
  std::string_view WhereIs(std::string_view pod_uid) const;
  // What explanations are made from, good until the next input. Nothing that is asked of it changes
  // a decision.
  Source Explaining();
  // Contradictions in the engine's own state, now or after an earlier input that was checked.
  // Empty: none. Costs a pass over all pods.
  std::vector<std::string> Invariants() const;

 private:
  Engine();
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::scheduler

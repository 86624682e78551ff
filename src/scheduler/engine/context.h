// EngineContext: what the parts of the engine share.
//
//   Intake         objects come and go
//   Attempts       scheduling cycles, and what follows when one fails
//   Bindings       pods between their cycle and the result of their binding
//   Preemptions    victims on their way out
//   ExtenderCalls  cycles that wait for extenders
//
// Each part has its own state and reaches the others through the context. The engine owns all of
// them; everything runs on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/objects/adopted_groups.h"
#include "framework/runtime/hint_map.h"
#include "framework/runtime/post_filter.h"
#include "queue/scheduling_queue.h"
#include "scheduler/decisions/decision_log.h"
#include "scheduler/engine.h"
#include "scheduler/engine/outbox.h"
#include "scheduler/engine/pod_table.h"
#include "scheduler/extenders.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

using cluster::NodeIndex;
using cluster::PodId;
using cluster::PodKey;
using queue::PluginMask;
using queue::PodSnapshot;

class Attempts;
class Bindings;
class ExtenderCalls;
class Intake;
class Preemptions;

// Is this one of the things an observer does not pass over?
inline bool IsDue(uint32_t& skip) {
  if (skip == 0) return true;
  --skip;
  return false;
}

inline api::Time After(const api::Time& time, int64_t ns) {
  return api::Time::FromUnixNano(time.UnixNano() + ns);
}

// The number in a resource version; -1 when it is none. Versions of one kind can be compared.
int64_t VersionNumber(std::string_view resource_version);

// A profile, ready to run.
struct ProfileRuntime {
  const framework::Profile* profile = nullptr;
  framework::Cycle* cycle = nullptr;
  std::unique_ptr<framework::HintMap> hints;

  // Plugins by name, as the queue numbers them.
  PluginMask MaskOf(const std::set<std::string>& names) const;
  queue::PluginId IdOf(std::string_view name) const;
  std::string_view NameOf(queue::PluginId plugin) const;
};

// How a scheduling attempt failed.
struct Failure {
  bool rejected = false;  // by plugins; else an error
  std::string message;
  PluginMask unschedulable = 0;
  PluginMask pending = 0;
  framework::PostFilterResult::Nomination nomination =
      framework::PostFilterResult::Nomination::kClear;
  std::string nominated_node;
  bool of_group = false;       // the attempt was one of the pod's group
  bool was_nominated = false;  // the API server has a nomination that the watch may not show yet
  // For explanations, of a pod that did not fit.
  std::shared_ptr<FailedAttempt> explained = nullptr;
  // Of a pod whose binding failed, which the queue has let go already.
  std::optional<queue::QueuedPod> info;
};

struct EngineContext {
  EngineContext(const EngineOptions& engine_options, const api::Time& time,
                EngineObserver* engine_observer);

  PodRef RefOf(const berth::cluster::Pod& pod) const;
  // Names no pod when the cluster has none with this uid.
  PodKey KeyOf(std::string_view uid) const;
  // The queue is notified of an event.
  void Move(berth::queue::ClusterEvent what, berth::queue::EventObject old_object,
            berth::queue::EventObject new_object);
  // What becomes of a pod's nomination when an attempt fails other than in PostFilter.
  framework::PostFilterResult::Nomination NominationOfFailure() const;
  // No cycle may begin before an answer is in.
  bool WaitsForAnswer() const;

  const EngineOptions options;
  const berth::queue::EventRules events;
  api::Time now;
  EngineObserver* observer;    // may be null
  ObserverWants nobody_wants;  // of an engine that is not observed
  ObserverWants* wants;
  berth::cluster::Cluster cluster;
  std::optional<ProfileSet> profiles;
  std::vector<ProfileRuntime> runtimes;
  std::unique_ptr<berth::queue::SchedulingQueue> queue;
  ExtenderSet extenders;
  berth::cluster::AdoptedGroups groups;  // of other APIs
  PodTable pods;
  Outbox outbox;
  mutable DecisionLog log;
  uint64_t changes = 0;  // inputs, and pods assumed

  Intake* intake = nullptr;
  Attempts* attempts = nullptr;
  Bindings* bindings = nullptr;
  Preemptions* preemptions = nullptr;
  ExtenderCalls* extender_calls = nullptr;
};

}  // namespace berth::scheduler

// SchedulingQueue: the pods that wait to be scheduled, and which one is next.
//
//   active         may be tried now, in the order of the QueueSort plugin
//   backoff        tried in vain, and something has happened since: tried again after a wait
//   error backoff  the attempt failed for a reason that is not the pod's: the same, counted apart
//   unschedulable  nothing has happened yet that could help
//   gated          a PreEnqueue plugin keeps it out
//   in flight      taken by Pop and not yet Done: events that happen meanwhile are kept for it
//
// A pod is in exactly one of them. Every operation costs O(log n) for the pods it moves, and an
// event looks only at pods that were rejected by a plugin which registered for it.
//
// Time is handed in and never goes back (a `now` before an earlier one counts as that one). The
// queue knows pods by id and asks its host about everything else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "api/time.h"
#include "base/function_ref.h"
#include "cluster/ids.h"
#include "queue/backoff.h"
#include "queue/cluster_event.h"

namespace berth::queue {

using cluster::PodId;

// A plugin, by its number in the host's table. At most 64 can reject pods.
using PluginId = uint8_t;
inline constexpr PluginId kNoPlugin = 0xff;
using PluginMask = uint64_t;
inline constexpr PluginMask MaskOf(PluginId plugin) { return PluginMask{1} << plugin; }

enum class QueueName : uint8_t { kActive, kBackoff, kUnschedulable, kGated };
inline constexpr size_t kQueueNames = 4;
std::string_view NameOf(QueueName queue);  // "active", "backoff", "unschedulable", "gated"

// What the queue remembers of a pod.
struct QueuedPod {
  PodId pod = cluster::kNoPod;
  uint8_t profile = 0;
  api::Time timestamp;                       // when it came into the queues, or back to them
  std::optional<api::Time> initial_attempt;  // of its first attempt
  int32_t attempts = 0;
  int32_t unschedulable_count = 0;       // attempts that found no node
  int32_t consecutive_errors_count = 0;  // attempts in a row that failed otherwise
  PluginMask unschedulable_plugins = 0;  // that rejected it in the last attempt
  PluginMask pending_plugins = 0;        // the same, waiting for something outside
  PluginId gating_plugin = kNoPlugin;    // that keeps it from the queues
  bool gated = false;
};

// What a PreEnqueue plugin said.
struct Gate {
  PluginId plugin = kNoPlugin;  // kNoPlugin: the pod may pass
  bool pending = false;
};

// What the queue asks of the scheduler.
class QueueHost {
 public:
  virtual ~QueueHost() = default;
  // QueueSort: does `a` go before `b`?
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const = 0;
  // PreEnqueue of the pod's profile, `first` before all others (kNoPlugin: in their order).
  virtual Gate PreEnqueue(const QueuedPod& pod, PluginId first) const = 0;
  // The plugins of `profile` that registered for `event`.
  virtual PluginMask Registered(uint8_t profile, const ClusterEvent& event) const = 0;
  // The hint of a registered plugin: may the event help the pod?
  virtual bool MayHelp(const QueuedPod& pod, PluginId plugin, const Event& event) const = 0;
  virtual int32_t Priority(PodId pod) const = 0;
  virtual std::string_view Uid(PodId pod) const = 0;
  // For metrics and explanations: `pod` came into `queue` because of the event called `event`.
  // `is_new`: it was in no queue before.
  virtual void Moved(const QueuedPod& pod, QueueName queue, std::string_view event,
                     bool is_new) = 0;
};

struct QueueOptions {
  BackoffOptions backoff;
  // Changes results: how long a pod stays unschedulable before it is tried again unasked.
  int64_t max_in_unschedulable_ns = 300'000'000'000;
  // Changes results: a pod in backoff is taken when nothing else is there to try.
  bool pop_from_backoff = true;
};

class SchedulingQueue {
 public:
  // `host` outlives the queue; `profiles` is how many there are.
  SchedulingQueue(QueueHost& host, size_t profiles, const QueueOptions& options);
  ~SchedulingQueue();

  // --- Pods come and go
  void Add(PodId pod, uint8_t profile, const api::Time& now);
  // The pod itself has changed; `changes` says how (PodChanges), `old_pod` and `new_pod` are its
  // snapshots. The QueueHost answers for the new version already. A pod the queue does not know
  // stays unknown.
  void Update(PodId pod, std::span<const ClusterEvent> changes, const PodSnapshot& old_pod,
              const PodSnapshot& new_pod, const api::Time& now);
  // The pod is gone, or has got a node: forgets it, unless it is in flight: then Done does.
  void Delete(PodId pod);

  // --- Attempts
  // The next pod to try; it is in flight until Done. Nothing: none can be tried now.
  std::optional<PodId> Pop(const api::Time& now);
  // What is known of a pod in any of the queues or in flight; null when it is in none.
  const QueuedPod* Find(PodId pod) const;
  QueuedPod* FindInFlight(PodId pod);
  // The attempt is over and the pod need not come back. Does nothing to a pod that is not in
  // flight.
  void Done(PodId pod);
  // The attempt has failed: the pod goes to where its rejecting plugins and the events since Pop
  // say. `rejected_*` replace what the pod was rejected by; both empty: an error. Does nothing to a
  // pod that is not in flight, so a duplicate report does no harm.
  void AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                        const api::Time& now);
  // A pod that was Done comes back because its binding failed: `failed` is what FindInFlight said
  // of it. Counts as an error. Does nothing to a pod the queue knows.
  void AddFailed(const QueuedPod& failed, const api::Time& now);

  // --- Events
  // Something happened that is not about one pending pod. Pods whose rejecting plugins say it may
  // help go to active or backoff. Only pods with a priority of at most `max_priority`.
  void Move(const Event& event, const api::Time& now,
            std::optional<int32_t> max_priority = std::nullopt);
  // The same for only the pods `filter` lets through. Pods in flight see the event all the same.
  using PodFilter = std::function<bool(const QueuedPod&)>;
  void MoveIf(const Event& event, const api::Time& now, const PodFilter& filter);
  // Tries `pod` again at once, wherever it waits (kForceActivate).
  void Activate(PodId pod, const api::Time& now);

  // --- Time
  // Moves what has waited long enough. Call at NextWake or later.
  void Advance(const api::Time& now);
  // When Advance has something to do next; nothing: no pod waits for time.
  std::optional<api::Time> NextWake() const;
  // Is there a pod that Pop would give?
  bool CanPop() const;

  // --- What there is
  size_t Count(QueueName queue) const;
  size_t InFlightCount() const;
  size_t InFlightEvents() const;
  // All pods in the queues and in flight, in no order, and where they are (as WhereIs says it).
  void ForEach(FunctionRef<void(const QueuedPod&, std::string_view)> fn) const;
  // The events that are kept for pods in flight, in order.
  void ForEachInFlightEvent(FunctionRef<void(const Event&)> fn) const;
  // Where the pod is, in words, for invariants and dumps: "active", "backoff", "error-backoff",
  // "unschedulable", "gated", "in-flight"; empty when nowhere.
  std::string_view WhereIs(PodId pod) const;
  // When the wait of a pod in backoff ends; nothing: it is in none.
  std::optional<api::Time> BackoffUntil(PodId pod) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::queue

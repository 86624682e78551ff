// SchedulingQueue: the pending pods, and which one is next.
//
//   active         ready to be scheduled, in the order of the QueueSort plugin
//   backoff        unschedulable, and an event has occurred since: retried after a delay
//   error backoff  the attempt failed with an error: retried after a delay, counted separately
//   unschedulable  no event has occurred yet that could help
//   gated          a PreEnqueue plugin holds it back
//   in flight      popped and not yet Done: events that occur meanwhile are kept for it
//
// A pod is in exactly one of them. Every operation costs O(log n) for the pods it moves, and an
// event visits only pods that were rejected by a plugin which registered for it.
//
// The caller passes the time, which never goes back (a `now` before an earlier one counts as that
// one). The queue knows pods by id and calls its host for everything else.
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

// A plugin, by its index in the host's table. At most 64 can reject pods.
using PluginId = uint8_t;
inline constexpr PluginId kNoPlugin = 0xff;
using PluginMask = uint64_t;
inline constexpr PluginMask MaskOf(PluginId plugin) { return PluginMask{1} << plugin; }

enum class QueueName : uint8_t { kActive, kBackoff, kUnschedulable, kGated };
inline constexpr size_t kQueueNames = 4;
std::string_view NameOf(QueueName queue);  // "active", "backoff", "unschedulable", "gated"

// The queue's record of a pod.
struct QueuedPod {
  PodId pod = cluster::kNoPod;
  uint8_t profile = 0;
  api::Time timestamp;                       // when it entered the queues, or returned to them
  std::optional<api::Time> initial_attempt;  // of its first attempt
  int32_t attempts = 0;
  int32_t unschedulable_count = 0;       // attempts that found no node
  int32_t consecutive_errors_count = 0;  // consecutive attempts that failed with an error
  PluginMask unschedulable_plugins = 0;  // that rejected it in the last attempt
  PluginMask pending_plugins = 0;        // the same, waiting for an external condition
  PluginId gating_plugin = kNoPlugin;    // that gates it
  bool gated = false;
  // It left the unschedulable pods without an event, and has not been tried since.
  bool was_flushed = false;
  std::optional<api::Time> flushed;  // when that was last, since its last attempt
  // The record stands for a pod group with that many pods, see grouped_queue.h; 0: for a pod.
  uint32_t members = 0;
};

// How the attempt of a pod group ended.
enum class GroupEnd : uint8_t { kScheduled, kRejected, kError };

// The result of a PreEnqueue plugin.
struct Gate {
  PluginId plugin = kNoPlugin;  // kNoPlugin: the pod may pass
  bool pending = false;
};

// Callbacks of the queue into the scheduler.
class QueueHost {
 public:
  virtual ~QueueHost() = default;
  // QueueSort: does `a` come before `b`?
  virtual bool Less(const QueuedPod& a, const QueuedPod& b) const = 0;
  // PreEnqueue of the pod's profile, `first` before all others (kNoPlugin: in their order).
  virtual Gate PreEnqueue(const QueuedPod& pod, PluginId first) const = 0;
  // The plugins of `profile` that registered for `event`.
  virtual PluginMask Registered(uint8_t profile, const ClusterEvent& event) const = 0;
  // The hint of a registered plugin: may the event help the pod?
  virtual bool MayHelp(const QueuedPod& pod, PluginId plugin, const Event& event) const = 0;
  virtual int32_t Priority(PodId pod) const = 0;
  virtual std::string_view Uid(PodId pod) const = 0;
  // For metrics and explanations: `pod` entered `queue` because of the event named `event`.
  // `is_new`: it was in no queue before.
  virtual void Moved(const QueuedPod& pod, QueueName queue, std::string_view event,
                     bool is_new) = 0;
};

struct QueueOptions {
  BackoffOptions backoff;
  // Changes results: how long a pod stays unschedulable before it is retried without an event.
  int64_t max_in_unschedulable_ns = 300'000'000'000;
  // Changes results: a pod in backoff is popped when the active queue is empty.
  bool pop_from_backoff = true;
  // Changes results: events without an object are for gated pods, too, whatever gates them.
  bool wildcard_events_reach_gated_pods = false;
  // Changes results: with pop_from_backoff, Activate does not run PreEnqueue for a pod in backoff.
  bool activation_from_backoff_skips_pre_enqueue = false;
  // Changes results: a pod that was retried without an event and gated again waits as long as one
  // that was tried; otherwise it is retried at every tick.
  bool flush_counts_from_last_flush = false;
  // How events name pods that come into the queue.
  EventResource pending_pod = EventResource::kUnschedulablePod;
};

class SchedulingQueue {
 public:
  // `host` outlives the queue; `profiles` is how many there are.
  SchedulingQueue(QueueHost& host, size_t profiles, const QueueOptions& options);
  virtual ~SchedulingQueue();

  // --- Pods
  // come and go
  virtual void Add(PodId pod, uint8_t profile, const api::Time& now);
  // The pod itself has changed; `changes` lists how (PodChanges), `old_pod` and `new_pod` are its
  // snapshots. The QueueHost already reflects the new version. Does nothing to a pod the queue does
  // not know.
  virtual void Update(PodId pod, std::span<const ClusterEvent> changes, const PodSnapshot& old_pod,
                      const PodSnapshot& new_pod, const api::Time& now);
  // The pod is deleted or has a node: removes it. If it is in flight, Done removes it.
  virtual void Delete(PodId pod);

  // --- Attempts
  // The next pod to schedule; it is in flight until Done. Empty: no pod is ready.
  virtual std::optional<PodId> Pop(const api::Time& now);
  // The record of a pod in any of the queues or in flight; null when it is in none.
  virtual const QueuedPod* Find(PodId pod) const;
  virtual QueuedPod* FindInFlight(PodId pod);
  // The attempt is over and the pod leaves the queue. Does nothing to a pod that is not in flight.
  virtual void Done(PodId pod);
  // The attempt has failed: the rejecting plugins and the events since Pop decide where the pod
  // goes. `rejected_*` replace the plugins that rejected it; both empty: an error. Does nothing to
  // a pod that is not in flight, so duplicate reports are harmless.
  virtual void AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                                const api::Time& now);
  // A pod that was Done returns because its binding failed: `failed` is what FindInFlight returned
  // for it. Counts as an error. Does nothing to a pod the queue knows.
  virtual void AddFailed(const QueuedPod& failed, const api::Time& now);

  // --- Events
  // An event that does not concern one pending pod. Pods whose rejecting plugins' hints return
  // Queue move to active or backoff. Only pods with a priority of at most `max_priority`.
  void Move(const Event& event, const api::Time& now,
            std::optional<int32_t> max_priority = std::nullopt);
  // The same, restricted to pods that `filter` accepts. Pods in flight see the event regardless.
  using PodFilter = std::function<bool(const QueuedPod&)>;
  void MoveIf(const Event& event, const api::Time& now, const PodFilter& filter);
  // Moves `pod` to the active queue from any other (kForceActivate).
  virtual void Activate(PodId pod, const api::Time& now);

  // --- Time
  // Moves pods whose wait is over. Call at NextWake or later.
  void Advance(const api::Time& now);
  // When Advance has work next; empty: no pod waits for a time.
  std::optional<api::Time> NextWake() const;
  // Would Pop return a pod?
  bool CanPop() const;

  // --- What there is
  virtual size_t Count(QueueName queue) const;
  virtual size_t InFlightCount() const;
  size_t InFlightEvents() const;
  // All pods in the queues and in flight, unordered, with their places (as in WhereIs).
  virtual void ForEach(FunctionRef<void(const QueuedPod&, std::string_view)> fn) const;
  // The events that are kept for pods in flight, in order.
  void ForEachInFlightEvent(FunctionRef<void(const Event&)> fn) const;
  // The name of the pod's place, for invariants and dumps: "active", "backoff", "error-backoff",
  // "unschedulable", "gated", "in-flight"; empty when nowhere.
  virtual std::string_view WhereIs(PodId pod) const;
  // When the backoff of a pod ends; empty: it is not in backoff.
  virtual std::optional<api::Time> BackoffUntil(PodId pod) const;

 protected:
  // --- For records that stand for pod groups
  // A record that no place holds yet goes where new pods go.
  void EnterNew(const QueuedPod& record, const api::Time& now);
  // The group has other pods now: the record leaves its place and is put there again. PreEnqueue
  // runs unless it is parked.
  void EnterAgain(PodId id, uint32_t members, const api::Time& now);
  // The attempt of a record in flight is over. `rejected_by`: the plugins that rejected some pod.
  // `keeps_timestamp`: it does not go behind others.
  void EndGroupAttempt(PodId id, GroupEnd end, uint32_t members, PluginMask rejected_by,
                       bool keeps_timestamp, const api::Time& now);
  // The time of the last operation.
  const api::Time& LastNow() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::queue

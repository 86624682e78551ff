// Over 600 lines: one class has all transitions between the places, and the interface forwards to
// it.
#include "queue/scheduling_queue.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "queue/in_flight.h"
#include "queue/plugin_index.h"
#include "queue/pod_heap.h"
#include "queue/requeue.h"
#include "queue/slot.h"
#include "queue/ticks.h"

namespace berth::queue {
namespace {

constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kBackoffComplete = "BackoffComplete";
constexpr std::string_view kPopFromBackoff = "PopFromBackoffQ";

}  // namespace

class SchedulingQueue::Impl {
 public:
  Impl(QueueHost& host, size_t profiles, const QueueOptions& options)
      : host_(host),
        options_(options),
        active_(ActiveOrder{&host, &slots_}),
        backoff_(BackoffOrder{&host, &slots_, options.pop_from_backoff}),
        error_backoff_(BackoffOrder{&host, &slots_, false}),
        leftovers_(BackoffOrder{&host, &slots_, false}),
        registered_(profiles, 0) {}

  void Add(PodId pod, uint8_t profile, const api::Time& now);
  void Update(PodId pod, std::span<const ClusterEvent> changes, const PodSnapshot& old_pod,
              const PodSnapshot& new_pod, const api::Time& now);
  void Delete(PodId pod);
  std::optional<PodId> Pop(const api::Time& now);
  void Done(PodId pod);
  void AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                        const api::Time& now);
  void AddFailed(const QueuedPod& failed, const api::Time& now);
  template <class Filter>
  void Move(const Event& event, const api::Time& now, Filter&& filter);
  void Activate(PodId pod, const api::Time& now);
  void EnterNew(const QueuedPod& record, const api::Time& now);
  void EnterAgain(PodId id, uint32_t members, const api::Time& now);
  void EndGroupAttempt(PodId id, GroupEnd end, uint32_t members, PluginMask rejected_by,
                       bool keeps_timestamp, const api::Time& now);
  void Advance(const api::Time& now);
  std::optional<api::Time> NextWake() const;
  bool CanPop() const;
  size_t Count(QueueName queue) const;

  const InFlight& in_flight() const { return in_flight_; }
  const Slots& slots() const { return slots_; }
  QueueHost& host() const { return host_; }
  const api::Time& now() const { return now_; }
  // Null when the pod is in none of the places.
  Slot* Get(PodId pod) {
    const auto it = slot_of_.find(pod);
    return it == slot_of_.end() ? nullptr : &slots_[it->second];
  }

 private:
  static constexpr uint32_t kNoSlot = 0xffffffff;

  uint32_t SlotOf(PodId pod) const {
    const auto it = slot_of_.find(pod);
    return it == slot_of_.end() ? kNoSlot : it->second;
  }
  uint32_t NewSlot(PodId pod);
  void Free(uint32_t slot);
  // The time an operation happens at.
  const api::Time& At(const api::Time& now);

  static bool IsParked(const Slot& slot) {
    return slot.place == Place::kUnschedulable || slot.place == Place::kGated;
  }
  // Takes the slot out of the place it is in.
  void Leave(uint32_t slot);
  void Enter(uint32_t slot, Place place);
  // Unschedulable or gated. A pod that was there already goes behind the others.
  void Park(uint32_t slot, std::string_view event, const api::Time& at);
  bool PassesGates(Slot& slot) const;
  // Puts the pod into the named queue, or gates it if a PreEnqueue plugin rejects it: then false.
  bool ToActive(uint32_t slot, std::string_view event, bool ask_gates, const api::Time& at);
  bool ToBackoff(uint32_t slot, std::string_view event, const api::Time& at);
  // False: the pod is parked.
  bool Send(uint32_t slot, Requeue decision, std::string_view event, const api::Time& at);

  std::optional<api::Time> BackoffEnd(const QueuedPod& info) const;
  bool IsBackingOff(const QueuedPod& info, const api::Time& at) const;
  Requeue Judge(const QueuedPod& info, PluginMask registered, const Event& event, PodId only) const;
  Requeue JudgeSincePop(uint32_t slot) const;

  void RunTick(const api::Time& tick);
  template <class Heap>
  void TakeCompleted(Heap& heap, const api::Time& tick);

  QueueHost& host_;
  const QueueOptions options_;
  const std::string pod_added_ = ClusterEvent{options_.pending_pod, kAdd}.Label();

  Slots slots_;
  std::vector<uint32_t> free_;
  boost::unordered_flat_map<PodId, uint32_t> slot_of_;
  uint64_t last_order_ = 0;

  PodHeap<ActiveOrder> active_;
  PodHeap<BackoffOrder> backoff_;
  PodHeap<BackoffOrder> error_backoff_;
  PodHeap<BackoffOrder> leftovers_;  // parked pods that a tick moves, by that tick
  PluginIndex parked_;               // a gated pod only under the plugin that gates it
  size_t unschedulable_count_ = 0;
  size_t gated_count_ = 0;
  InFlight in_flight_;

  bool started_ = false;
  api::Time first_now_;
  api::Time now_;

  // Working space of one operation.
  std::vector<PluginMask> registered_;  // by profile
  std::vector<uint32_t> candidates_;
};

// --- Slots and places

uint32_t SchedulingQueue::Impl::NewSlot(PodId pod) {
  uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = Slot{};
  }
  slots_[slot].info.pod = pod;
  slot_of_.emplace(pod, slot);
  return slot;
}

void SchedulingQueue::Impl::Free(uint32_t slot) {
  slot_of_.erase(slots_[slot].info.pod);
  slots_[slot] = Slot{};
  free_.push_back(slot);
}

const api::Time& SchedulingQueue::Impl::At(const api::Time& now) {
  if (!started_) first_now_ = now_ = now;
  started_ = true;
  now_ = std::max(now_, now);
  return now_;
}

void SchedulingQueue::Impl::Leave(uint32_t slot) {
  switch (slots_[slot].place) {
    case Place::kNowhere:
      break;
    case Place::kActive:
      active_.Remove(slot);
      break;
    case Place::kBackoff:
      backoff_.Remove(slot);
      break;
    case Place::kErrorBackoff:
      error_backoff_.Remove(slot);
      break;
    case Place::kUnschedulable:
    case Place::kGated:
      --(slots_[slot].place == Place::kGated ? gated_count_ : unschedulable_count_);
      parked_.Remove(slot);
      if (leftovers_.Contains(slot)) leftovers_.Remove(slot);
      break;
    case Place::kInFlight:
      in_flight_.End(slot);
      break;
  }
  slots_[slot].place = Place::kNowhere;
}

void SchedulingQueue::Impl::Enter(uint32_t slot, Place place) {
  Leave(slot);
  slots_[slot].place = place;
  slots_[slot].order = ++last_order_;
}

void SchedulingQueue::Impl::Park(uint32_t slot, std::string_view event, const api::Time& at) {
  Slot& s = slots_[slot];
  if (!IsParked(s)) {
    host_.Moved(s.info, s.info.gated ? QueueName::kGated : QueueName::kUnschedulable, event,
                s.place == Place::kNowhere);
  }
  Enter(slot, s.info.gated ? Place::kGated : Place::kUnschedulable);
  ++(s.info.gated ? gated_count_ : unschedulable_count_);
  PluginMask listeners = s.info.unschedulable_plugins | s.info.pending_plugins;
  bool times_out = true;
  if (s.info.gated) {
    listeners = MaskOf(s.info.gating_plugin);
    times_out = options_.wildcard_events_reach_gated_pods ||
                (host_.Registered(s.info.profile, kUnschedulableTimeout) & listeners) != 0;
    s.info.was_flushed = false;
  }
  parked_.Add(slot, listeners);
  if (!times_out) return;
  s.until = LeftoverTick(options_, first_now_, s.info, at);
  leftovers_.Push(slot);
}

bool SchedulingQueue::Impl::PassesGates(Slot& slot) const {
  QueuedPod& info = slot.info;
  const Gate gate = host_.PreEnqueue(info, info.gating_plugin);
  info.gating_plugin = gate.plugin;
  info.gated = gate.plugin != kNoPlugin;
  // Whatever the plugin called it, kube-scheduler counts a gate among the unschedulable plugins.
  if (info.gated) info.unschedulable_plugins |= MaskOf(gate.plugin);
  return !info.gated;
}

bool SchedulingQueue::Impl::ToActive(uint32_t slot, std::string_view event, bool ask_gates,
                                     const api::Time& at) {
  Slot& s = slots_[slot];
  if (ask_gates && !PassesGates(s)) {
    Park(slot, event, at);
    return false;
  }
  host_.Moved(s.info, QueueName::kActive, event, s.place == Place::kNowhere);
  Enter(slot, Place::kActive);
  if (!s.info.initial_attempt) s.info.initial_attempt = at;
  active_.Push(slot);
  return true;
}

bool SchedulingQueue::Impl::ToBackoff(uint32_t slot, std::string_view event, const api::Time& at) {
  Slot& s = slots_[slot];
  // Pods may be popped from backoff, so PreEnqueue runs before backoff, and not again after it.
  if (options_.pop_from_backoff && !PassesGates(s)) {
    Park(slot, event, at);
    return false;
  }
  // A group is never popped early.
  const bool error =
      s.info.members > 0 || (s.info.unschedulable_plugins | s.info.pending_plugins) == 0;
  host_.Moved(s.info, QueueName::kBackoff, event, s.place == Place::kNowhere);
  Enter(slot, error ? Place::kErrorBackoff : Place::kBackoff);
  s.until = BackoffEnd(s.info).value_or(api::Time{});
  (error ? error_backoff_ : backoff_).Push(slot);
  return true;
}

bool SchedulingQueue::Impl::Send(uint32_t slot, Requeue decision, std::string_view event,
                                 const api::Time& at) {
  if (decision == Requeue::kSkip) {
    if (!IsParked(slots_[slot])) Park(slot, event, at);
    return false;
  }
  // The wait may have ended while the pod was parked.
  if (decision == Requeue::kAfterBackoff && IsBackingOff(slots_[slot].info, at)) {
    return ToBackoff(slot, event, at);
  }
  return ToActive(slot, event, /*ask_gates=*/true, at);
}

// --- What an event means to a pod

// The longest wait of a group grows with the square root of its size.
std::optional<api::Time> SchedulingQueue::Impl::BackoffEnd(const QueuedPod& info) const {
  BackoffOptions backoff = options_.backoff;
  if (info.members > 1) {
    backoff.max_ns = static_cast<int64_t>(static_cast<double>(backoff.max_ns) *
                                          std::sqrt(static_cast<double>(info.members)));
  }
  return BackoffExpiration(backoff, info.timestamp, info.unschedulable_count,
                           info.consecutive_errors_count);
}

bool SchedulingQueue::Impl::IsBackingOff(const QueuedPod& info, const api::Time& at) const {
  const std::optional<api::Time> until = BackoffEnd(info);
  if (!until) return false;
  api::Time window = at;
  if (options_.backoff.align_to_second) window.nanos = 0;
  return *until >= window;  // still in the window where it ends: yes
}

Requeue SchedulingQueue::Impl::Judge(const QueuedPod& info, PluginMask registered,
                                     const Event& event, PodId only) const {
  if (only != cluster::kNoPod && only != info.pod) return Requeue::kSkip;
  const bool by_uid = event.what.IsWildCard();
  return DecideRequeue({info.unschedulable_plugins, info.pending_plugins},
                       by_uid ? host_.Uid(info.pod) : std::string_view{}, event, registered,
                       [&](PluginId plugin) { return host_.MayHelp(info, plugin, event); });
}

Requeue SchedulingQueue::Impl::JudgeSincePop(uint32_t slot) const {
  const QueuedPod& info = slots_[slot].info;
  if ((info.unschedulable_plugins | info.pending_plugins) == 0) return Requeue::kAfterBackoff;
  const Requeue best = info.pending_plugins == 0 ? Requeue::kAfterBackoff  //
                                                 : Requeue::kImmediately;
  Requeue result = Requeue::kSkip;
  in_flight_.ForEachSince(slot, [&](const InFlightEvent& e) {
    const PluginMask registered = host_.Registered(info.profile, e.event.what);
    result = std::max(result, Judge(info, registered, e.event, e.only));
    return result < best;
  });
  return result;
}

// --- Pods come and go

void SchedulingQueue::Impl::Add(PodId pod, uint8_t profile, const api::Time& now) {
  const api::Time& at = At(now);
  if (Slot* known = Get(pod)) {
    known->deleted = false;
    return;
  }
  const uint32_t slot = NewSlot(pod);
  slots_[slot].info.profile = profile;
  slots_[slot].info.timestamp = at;
  ToActive(slot, pod_added_, /*ask_gates=*/true, at);
}

void SchedulingQueue::Impl::Update(PodId pod, std::span<const ClusterEvent> changes,
                                   const PodSnapshot& old_pod, const PodSnapshot& new_pod,
                                   const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNoSlot) return;
  Slot& s = slots_[slot];
  switch (s.place) {
    case Place::kActive:
      return active_.Update(slot);
    case Place::kBackoff:
      return backoff_.Update(slot);
    case Place::kInFlight:
      for (const ClusterEvent& change : changes) {
        in_flight_.Record({Event{change, old_pod, new_pod}});
      }
      return;
    case Place::kNowhere:
    case Place::kErrorBackoff:  // nothing of the pod is in its order
      return;
    case Place::kUnschedulable:
    case Place::kGated:
      break;
  }
  for (const ClusterEvent& change : changes) {
    const Event event{change, old_pod, new_pod};
    const PluginMask registered = host_.Registered(s.info.profile, change);
    const Requeue decision = Judge(s.info, registered, event, cluster::kNoPod);
    if (decision == Requeue::kSkip) continue;
    if (Send(slot, decision, change.Label(), at)) return;
  }
}

void SchedulingQueue::Impl::Delete(PodId pod) {
  const uint32_t slot = SlotOf(pod);
  if (slot == kNoSlot) return;
  if (slots_[slot].place == Place::kInFlight) {
    slots_[slot].deleted = true;
    return;
  }
  Leave(slot);
  Free(slot);
}

// --- Attempts

bool SchedulingQueue::Impl::CanPop() const {
  return !active_.empty() || (options_.pop_from_backoff && !backoff_.empty());
}

std::optional<PodId> SchedulingQueue::Impl::Pop(const api::Time& now) {
  At(now);
  if (!CanPop()) return std::nullopt;
  const bool early = active_.empty();
  const uint32_t slot = early ? backoff_.Top() : active_.Top();
  if (early) host_.Moved(slots_[slot].info, QueueName::kActive, kPopFromBackoff, false);
  Enter(slot, Place::kInFlight);
  in_flight_.Begin(slot);
  QueuedPod& info = slots_[slot].info;
  ++info.attempts;
  info.unschedulable_plugins = 0;
  info.pending_plugins = 0;
  info.gating_plugin = kNoPlugin;
  info.gated = false;
  return info.pod;
}

void SchedulingQueue::Impl::Done(PodId pod) {
  const uint32_t slot = SlotOf(pod);
  if (slot == kNoSlot || slots_[slot].place != Place::kInFlight) return;
  Leave(slot);
  Free(slot);
}

void SchedulingQueue::Impl::AddUnschedulable(PodId pod, PluginMask rejected_by,
                                             PluginMask pending_by, const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNoSlot || slots_[slot].place != Place::kInFlight) return;
  if (slots_[slot].deleted) return Done(pod);
  QueuedPod& info = slots_[slot].info;
  info.unschedulable_plugins = rejected_by;
  info.pending_plugins = pending_by;
  info.was_flushed = false;
  info.flushed.reset();
  if ((rejected_by | pending_by) == 0) {
    ++info.consecutive_errors_count;
  } else {
    ++info.unschedulable_count;
    info.consecutive_errors_count = 0;
  }
  info.timestamp = at;
  Send(slot, JudgeSincePop(slot), kScheduleAttemptFailure, at);
}

void SchedulingQueue::Impl::AddFailed(const QueuedPod& failed, const api::Time& now) {
  const api::Time& at = At(now);
  if (SlotOf(failed.pod) != kNoSlot) return;
  const uint32_t slot = NewSlot(failed.pod);
  QueuedPod& info = slots_[slot].info;
  info = failed;
  info.unschedulable_plugins = info.pending_plugins = 0;
  info.was_flushed = false;
  info.flushed.reset();
  ++info.consecutive_errors_count;
  info.timestamp = at;
  Send(slot, Requeue::kAfterBackoff, kScheduleAttemptFailure, at);
}

// --- Events

template <class Filter>
void SchedulingQueue::Impl::Move(const Event& event, const api::Time& now, Filter&& filter) {
  const api::Time& at = At(now);
  PluginMask listeners = 0;
  for (size_t profile = 0; profile < registered_.size(); ++profile) {
    registered_[profile] = host_.Registered(static_cast<uint8_t>(profile), event.what);
    listeners |= registered_[profile];
  }
  if (event.what.IsWildCard()) {
    listeners = ~PluginMask{0};
  } else if (listeners == 0) {
    return;  // no plugin registered for it, and no pod is in flight
  }
  const bool reaches_gated = options_.wildcard_events_reach_gated_pods && event.what.IsWildCard();
  std::string label;
  parked_.Collect(listeners, &candidates_);
  for (const uint32_t slot : candidates_) {
    const QueuedPod& info = slots_[slot].info;
    const PluginMask registered = info.profile < registered_.size() ? registered_[info.profile] : 0;
    if (info.gated && !reaches_gated && (registered & MaskOf(info.gating_plugin)) == 0) continue;
    if (!filter(info)) continue;
    const Requeue decision = Judge(info, registered, event, cluster::kNoPod);
    if (decision == Requeue::kSkip) continue;
    if (label.empty()) label = event.what.Label();
    Leave(slot);
    Send(slot, decision, label, at);
  }
  in_flight_.Record({event});
}

void SchedulingQueue::Impl::Activate(PodId pod, const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNoSlot) return;
  Slot& s = slots_[slot];
  if (s.place == Place::kInFlight) return in_flight_.Record({Event{kForceActivate, {}, {}}, pod});
  if (s.place == Place::kActive) return;
  const bool passed_gates = options_.activation_from_backoff_skips_pre_enqueue &&
                            options_.pop_from_backoff && !IsParked(s);
  if (!IsParked(s)) Leave(slot);
  ToActive(slot, kForceActivate.custom_label, !passed_gates, at);
}

// --- Groups

void SchedulingQueue::Impl::EnterNew(const QueuedPod& record, const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = NewSlot(record.pod);
  slots_[slot].info = record;
  ToActive(slot, pod_added_, /*ask_gates=*/true, at);
}

void SchedulingQueue::Impl::EnterAgain(PodId id, uint32_t members, const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = SlotOf(id);
  if (slot == kNoSlot) return;
  Slot& s = slots_[slot];
  const Place place = s.place;
  if (place == Place::kInFlight) return;
  Leave(slot);
  s.info.members = members;
  if (place == Place::kUnschedulable || place == Place::kGated) {
    Park(slot, pod_added_, at);
  } else {
    const bool waits = place == Place::kBackoff || place == Place::kErrorBackoff;
    Send(slot, waits ? Requeue::kAfterBackoff : Requeue::kImmediately, pod_added_, at);
  }
}

void SchedulingQueue::Impl::EndGroupAttempt(PodId id, GroupEnd end, uint32_t members,
                                            PluginMask rejected_by, bool keeps_timestamp,
                                            const api::Time& now) {
  const api::Time& at = At(now);
  const uint32_t slot = SlotOf(id);
  if (slot == kNoSlot || slots_[slot].place != Place::kInFlight) return;
  QueuedPod& info = slots_[slot].info;
  info.members = members;
  info.unschedulable_plugins = rejected_by;
  info.pending_plugins = 0;
  info.was_flushed = false;
  info.flushed.reset();
  switch (end) {
    case GroupEnd::kScheduled:
      info.unschedulable_count = info.consecutive_errors_count = 0;
      break;
    case GroupEnd::kRejected:
      ++info.unschedulable_count;
      info.consecutive_errors_count = 0;
      break;
    case GroupEnd::kError:
      ++info.consecutive_errors_count;
      break;
  }
  if (!keeps_timestamp) info.timestamp = at;
  const bool waits = end != GroupEnd::kScheduled;
  Send(slot, waits ? Requeue::kAfterBackoff : Requeue::kImmediately, kScheduleAttemptFailure, at);
}

// --- Time

std::optional<api::Time> SchedulingQueue::Impl::NextWake() const {
  std::optional<api::Time> wake;
  const auto consider = [&](const api::Time& tick) {
    if (!wake || tick < *wake) wake = tick;
  };
  if (!backoff_.empty()) consider(BackoffTick(options_, first_now_, slots_[backoff_.Top()].until));
  if (!error_backoff_.empty())
    consider(BackoffTick(options_, first_now_, slots_[error_backoff_.Top()].until));
  if (!leftovers_.empty()) consider(slots_[leftovers_.Top()].until);
  return wake;
}

template <class Heap>
void SchedulingQueue::Impl::TakeCompleted(Heap& heap, const api::Time& tick) {
  while (!heap.empty() && BackoffTick(options_, first_now_, slots_[heap.Top()].until) <= tick) {
    candidates_.push_back(heap.Top());
    Leave(heap.Top());
  }
}

void SchedulingQueue::Impl::RunTick(const api::Time& tick) {
  candidates_.clear();
  TakeCompleted(backoff_, tick);
  TakeCompleted(error_backoff_, tick);
  for (const uint32_t slot : candidates_) {
    ToActive(slot, kBackoffComplete, /*ask_gates=*/!options_.pop_from_backoff, tick);
  }
  candidates_.clear();
  while (!leftovers_.empty() && slots_[leftovers_.Top()].until <= tick) {
    candidates_.push_back(leftovers_.Top());
    Leave(leftovers_.Top());
  }
  for (const uint32_t slot : candidates_) {
    slots_[slot].info.was_flushed = true;
    slots_[slot].info.flushed = tick;
    Send(slot, Requeue::kAfterBackoff, kUnschedulableTimeout.custom_label, tick);
  }
  if (!candidates_.empty()) in_flight_.Record({Event{kUnschedulableTimeout, {}, {}}});
}

void SchedulingQueue::Impl::Advance(const api::Time& now) {
  const api::Time at = At(now);
  for (auto wake = NextWake(); wake && *wake <= at; wake = NextWake()) RunTick(*wake);
}

size_t SchedulingQueue::Impl::Count(QueueName queue) const {
  switch (queue) {
    case QueueName::kActive:
      return active_.size();
    case QueueName::kBackoff:
      return backoff_.size() + error_backoff_.size();
    case QueueName::kUnschedulable:
      return unschedulable_count_;
    case QueueName::kGated:
      return gated_count_;
  }
  return 0;
}

// --- SchedulingQueue

SchedulingQueue::SchedulingQueue(QueueHost& host, size_t profiles, const QueueOptions& options)
    : impl_(std::make_unique<Impl>(host, profiles, options)) {}
SchedulingQueue::~SchedulingQueue() = default;

void SchedulingQueue::Add(PodId pod, uint8_t profile, const api::Time& now) {
  impl_->Add(pod, profile, now);
}
void SchedulingQueue::Update(PodId pod, std::span<const ClusterEvent> changes,
                             const PodSnapshot& old_pod, const PodSnapshot& new_pod,
                             const api::Time& now) {
  impl_->Update(pod, changes, old_pod, new_pod, now);
}
void SchedulingQueue::Delete(PodId pod) { impl_->Delete(pod); }
std::optional<PodId> SchedulingQueue::Pop(const api::Time& now) { return impl_->Pop(now); }
const QueuedPod* SchedulingQueue::Find(PodId pod) const {
  const Slot* slot = impl_->Get(pod);
  return slot == nullptr ? nullptr : &slot->info;
}
QueuedPod* SchedulingQueue::FindInFlight(PodId pod) {
  Slot* slot = impl_->Get(pod);
  return slot == nullptr || slot->place != Place::kInFlight ? nullptr : &slot->info;
}
void SchedulingQueue::Done(PodId pod) { impl_->Done(pod); }
void SchedulingQueue::AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                                       const api::Time& now) {
  impl_->AddUnschedulable(pod, rejected_by, pending_by, now);
}
void SchedulingQueue::AddFailed(const QueuedPod& failed, const api::Time& now) {
  impl_->AddFailed(failed, now);
}
void SchedulingQueue::Move(const Event& event, const api::Time& now,
                           std::optional<int32_t> max_priority) {
  impl_->Move(event, now, [&](const QueuedPod& pod) {
    return !max_priority || impl_->host().Priority(pod.pod) <= *max_priority;
  });
}
void SchedulingQueue::MoveIf(const Event& event, const api::Time& now, const PodFilter& filter) {
  impl_->Move(event, now, filter);
}
void SchedulingQueue::Activate(PodId pod, const api::Time& now) { impl_->Activate(pod, now); }
void SchedulingQueue::EnterNew(const QueuedPod& record, const api::Time& now) {
  impl_->EnterNew(record, now);
}
void SchedulingQueue::EnterAgain(PodId id, uint32_t members, const api::Time& now) {
  impl_->EnterAgain(id, members, now);
}
void SchedulingQueue::EndGroupAttempt(PodId id, GroupEnd end, uint32_t members,
                                      PluginMask rejected_by, bool keeps_timestamp,
                                      const api::Time& now) {
  impl_->EndGroupAttempt(id, end, members, rejected_by, keeps_timestamp, now);
}
const api::Time& SchedulingQueue::LastNow() const { return impl_->now(); }
void SchedulingQueue::Advance(const api::Time& now) { impl_->Advance(now); }
std::optional<api::Time> SchedulingQueue::NextWake() const { return impl_->NextWake(); }
bool SchedulingQueue::CanPop() const { return impl_->CanPop(); }
size_t SchedulingQueue::Count(QueueName queue) const { return impl_->Count(queue); }
size_t SchedulingQueue::InFlightCount() const { return impl_->in_flight().PodCount(); }
size_t SchedulingQueue::InFlightEvents() const { return impl_->in_flight().EventCount(); }
void SchedulingQueue::ForEach(FunctionRef<void(const QueuedPod&, std::string_view)> fn) const {
  for (const Slot& slot : impl_->slots()) {
    if (slot.place != Place::kNowhere) fn(slot.info, WordOf(slot.place));
  }
}
void SchedulingQueue::ForEachInFlightEvent(FunctionRef<void(const Event&)> fn) const {
  impl_->in_flight().ForEach([&](const InFlightEvent& kept) { fn(kept.event); });
}
std::string_view SchedulingQueue::WhereIs(PodId pod) const {
  const Slot* slot = impl_->Get(pod);
  return slot == nullptr ? std::string_view{} : WordOf(slot->place);
}
std::optional<api::Time> SchedulingQueue::BackoffUntil(PodId pod) const {
  const Slot* slot = impl_->Get(pod);
  const bool waits =
      slot != nullptr && (slot->place == Place::kBackoff || slot->place == Place::kErrorBackoff);
  return waits ? std::optional(slot->until) : std::nullopt;
}

}  // namespace berth::queue

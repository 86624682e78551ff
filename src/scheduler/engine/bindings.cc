#include "scheduler/engine/bindings.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "scheduler/engine/attempts.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int32_t kMaxRetryDelaySeconds = 8;

}  // namespace

// --- Permit

void Bindings::Begin(Binding& binding) {
  if (c_.options.behaviour.nominate_before_binding) {
    if (binding.watched) TellPreFlight(binding);
    if (!binding.waits.empty() || !binding.runs.empty()) Nominate(binding);
  }
  ProceedBinding(binding);
}

// Permit and PreBind may take long. The nomination shows other components where the pod is
// expected.
void Bindings::Nominate(Binding& binding) {
  if (c_.cluster.GetPod(binding.pod).nominated_node_name == binding.node_name) return;
  binding.nominating = true;
  binding.nominated = true;
  PatchPodStatus patch;
  patch.pod = binding.ref;
  patch.nominated_node_name = binding.node_name;
  c_.outbox.EmitAwaited(std::move(patch), {Awaited::For::kExpectation, binding.key, 0, 0});
}

void Bindings::Nominated(Binding& binding) {
  binding.nominating = false;
  if (binding.stage == Binding::Stage::kNominate) ProceedBinding(binding);
}

// Goes on as far as possible without waiting. The binding may be gone when this returns.
void Bindings::ProceedBinding(Binding& binding) {
  if (!binding.waits.empty()) {
    if (!binding.waiting_since) {
      binding.waiting_since = c_.now;
      if (c_.observer != nullptr) c_.observer->PermitWaits(binding.ref);
    }
    binding.stage = Binding::Stage::kWaiting;
    api::Time first = binding.waits.front().deadline;
    for (const Binding::Wait& wait : binding.waits) first = std::min(first, wait.deadline);
    WakeAt(binding, first);
    return;
  }
  PermitOver(binding, framework::Code::kSuccess);
  if (binding.nominating) {
    binding.stage = Binding::Stage::kNominate;
    return;
  }
  // From here on the pod cannot be found unschedulable any more, so no event needs to be kept for
  // it.
  if (binding.pod != cluster::kNoPod) c_.queue->Done(binding.pod);
  BeginPreBind(binding);
}

// --- What the observer is told

void Bindings::PermitOver(Binding& binding, framework::Code code) {
  if (!binding.waiting_since || c_.observer == nullptr) return;
  c_.observer->PermitWaited(code, c_.now.UnixNano() - binding.waiting_since->UnixNano());
  binding.waiting_since.reset();
}

void Bindings::PointBegan(const Binding& binding, framework::Point point) {
  if (binding.watched) c_.observer->BindingPointBegan(binding.ref, point);
}

void Bindings::PluginEnded(const Binding& binding, framework::Point point, uint8_t plugin,
                           framework::Code code) {
  if (!binding.watched) return;
  const framework::Profile& profile = *c_.runtimes[binding.profile].profile;
  if (plugin >= profile.Plugins().size()) return;
  c_.observer->BindingPluginEnded(binding.ref, point, profile.At(plugin).Name(), code);
}

void Bindings::PointEnded(const Binding& binding, framework::Point point, framework::Code code) {
  if (binding.watched) c_.observer->BindingPointEnded(binding.ref, point, code);
}

bool Bindings::Allow(const PodKey& key, std::string_view plugin) {
  Binding* binding = FindBinding(key);
  if (binding == nullptr || binding->stage != Binding::Stage::kWaiting) return false;
  const framework::Profile& profile = *c_.runtimes[binding->profile].profile;
  const size_t allowed = std::erase_if(binding->waits, [&](const Binding::Wait& wait) {
    return profile.At(wait.plugin).Name() == plugin;
  });
  if (allowed == 0) return false;
  if (binding->waits.empty()) ProceedBinding(*binding);
  return true;
}

bool Bindings::Reject(const PodKey& key, std::string_view plugin, std::string_view message) {
  Binding* binding = FindBinding(key);
  if (binding == nullptr || binding->stage != Binding::Stage::kWaiting) return false;
  const queue::PluginId id = c_.runtimes[binding->profile].IdOf(plugin);
  BindingFailed(*binding, true, std::string(message), id);
  return true;
}

// Carrying out a verdict may call plugins, which may decide about more pods. It ends: each turn has
// fewer pods that wait.
void Bindings::TakePermitVerdicts() {
  if (c_.extender_calls->Waiting()) return;  // they are taken when the cycle is over
  std::vector<framework::PermitVerdict> verdicts;
  for (bool changed = !deciding_later_.empty(); changed;) {
    changed = false;
    for (framework::WaitingPodsPlugin* plugin : deciding_later_) {
      verdicts.clear();
      plugin->TakeVerdicts(&verdicts);
      for (const framework::PermitVerdict& verdict : verdicts) {
        const PodKey key = c_.KeyOf(verdict.pod_uid);
        changed |= verdict.allow ? Allow(key, plugin->Name())
                                 : Reject(key, plugin->Name(), verdict.message);
      }
    }
  }
}

void Bindings::WakeBinding(Binding& binding) {
  switch (binding.stage) {
    case Binding::Stage::kWaiting: {
      const auto late =
          std::find_if(binding.waits.begin(), binding.waits.end(),
                       [&](const Binding::Wait& wait) { return wait.deadline <= c_.now; });
      if (late == binding.waits.end()) {
        ProceedBinding(binding);
        return;
      }
      const std::string_view plugin = c_.runtimes[binding.profile].profile->At(late->plugin).Name();
      BindingFailed(binding, true,
                    fmt::format("rejected due to timeout after waiting {} at plugin {}",
                                api::Duration{late->timeout_ns}.Format(), plugin),
                    late->plugin);
      return;
    }
    case Binding::Stage::kPreBind:
      WakePreBind(binding);
      return;
    case Binding::Stage::kConfirm:
      c_.outbox.EmitAwaited(ReadPod{binding.ref}, {Awaited::For::kBinding, binding.key, 0, 0});
      return;
    case Binding::Stage::kNominate:
    case Binding::Stage::kBind:
      return;
  }
}

// The longer there is no answer, the longer the wait before the next try.
int64_t Bindings::RetryDelay(int32_t retries) {
  return std::min(1 << std::min(retries, 10), kMaxRetryDelaySeconds) * kSecond;
}

bool Bindings::IsInMemory(const PodKey& key) const {
  const Binding* binding = FindBinding(key);
  return binding != nullptr &&
         (binding->stage == Binding::Stage::kWaiting || binding->stage == Binding::Stage::kPreBind);
}

void Bindings::Preempt(const PodKey& key, const Binding::Preemptor& preemptor) {
  Binding& binding = *FindBinding(key);
  binding.preemptors.push_back(preemptor);
  if (binding.stage == Binding::Stage::kPreBind) return Settle(binding);
  BindingFailed(binding, false, "waiting on permit for pod: preempted", queue::kNoPlugin);
}

// --- Bind

void Bindings::SendBind(Binding& binding) {
  binding.stage = Binding::Stage::kBind;
  PointEnded(binding, framework::Point::kPreBind, framework::Code::kSuccess);
  PointBegan(binding, framework::Point::kBind);
  BindNow(binding);
}

void Bindings::BindNow(Binding& binding) {
  if (SendExtenderBind(binding)) return;
  const cluster::Pod& pod = *binding.snapshot;
  const framework::CycleContext context{c_.cluster, pod, *pod.shape};
  for (const auto& [plugin, index] : c_.runtimes[binding.profile].profile->bind) {
    const framework::Status status = plugin->Bind(context, binding.node);
    if (status.IsSkip()) continue;
    if (!status.Ok()) {
      BindingFailed(binding, false,
                    fmt::format("running Bind plugin \"{}\": {}", plugin->Name(), status.Message()),
                    index);
      return;
    }
    binding.binder = index;
    if (c_.wants->binds) c_.observer->BindBegan(binding.ref, binding.node_name);
    c_.outbox.EmitAwaited(BindPod{binding.ref, binding.node_name},
                          {Awaited::For::kBinding, binding.key, 0, 0});
    return;
  }
  BindingFailed(binding, false, "no bind plugin took the pod", 0);
}

void Bindings::BindingResult(Binding& binding, size_t run, EffectResult result) {
  switch (binding.stage) {
    case Binding::Stage::kPreBind:
      WriteDone(binding, run, std::move(result));
      break;
    case Binding::Stage::kBind:
      BindDone(binding, result);
      break;
    case Binding::Stage::kConfirm:
      ReadDone(binding, result);
      break;
    case Binding::Stage::kWaiting:
    case Binding::Stage::kNominate:
      break;
  }
}

void Bindings::BindDone(Binding& binding, const EffectResult& result) {
  if (result.code == EffectResult::Code::kOk) {
    Bound(binding);
    return;
  }
  if (binding.extender_binds) {
    ExtenderBindFailed(binding, result);
    return;
  }
  const std::string_view plugin = c_.runtimes[binding.profile].profile->At(binding.binder).Name();
  binding.bind_error = fmt::format("running Bind plugin \"{}\": {}", plugin, result.message);
  const bool unclear = result.code == EffectResult::Code::kUnknown;
  const bool known = binding.pod != cluster::kNoPod;
  const bool was_unclear = known && c_.pods.Of(binding.pod).unclear_binding;
  if (!unclear && !(result.code == EffectResult::Code::kConflict && was_unclear)) {
    BindingFailed(binding, false, binding.bind_error, binding.binder);
    return;
  }
  // It may have been bound, now or by an earlier attempt. If its room were given to another pod
  // now, the node could end up with both.
  if (known) c_.pods.Of(binding.pod).unclear_binding = true;
  binding.stage = Binding::Stage::kConfirm;
  c_.outbox.EmitAwaited(ReadPod{binding.ref}, {Awaited::For::kBinding, binding.key, 0, 0});
}

void Bindings::ReadDone(Binding& binding, const EffectResult& result) {
  if (result.code == EffectResult::Code::kNotFound) {
    BindingFailed(binding, false, binding.bind_error, binding.binder);
    return;
  }
  if (result.code != EffectResult::Code::kOk || !result.pod) {
    WakeAt(binding, After(c_.now, RetryDelay(binding.retries++)));
    return;
  }
  const api::Pod& pod = *result.pod;
  if (pod.metadata.uid == binding.ref.uid && pod.spec.node_name == binding.node_name) {
    Bound(binding);
    return;
  }
  const PodKey key = binding.key;
  // Somebody else's. Unless the watch has shown its end since: what was read is older then.
  const bool ended = binding.pod == cluster::kNoPod || c_.pods.Of(binding.pod).deleted;
  if (pod.metadata.uid == binding.ref.uid && !pod.spec.node_name.empty() && !ended)
    c_.intake->Upsert(pod);
  if (Binding* still = FindBinding(key)) {
    BindingFailed(*still, false, still->bind_error, still->binder);
  }
}

// The API server has the binding; the watch will show it.
void Bindings::Bound(Binding& binding) {
  const framework::Profile& profile = *c_.runtimes[binding.profile].profile;
  if (!binding.extender_binds) {
    PluginEnded(binding, framework::Point::kBind, binding.binder, framework::Code::kSuccess);
    PointEnded(binding, framework::Point::kBind, framework::Code::kSuccess);
  }
  c_.outbox.Record(binding.ref, std::nullopt, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {}/{} to {}", binding.ref.namespace_,
                               binding.ref.name, binding.node_name),
                   profile.Name());
  const api::Time first = binding.info.initial_attempt.value_or(c_.now);
  c_.log.rates().Bound(c_.now.UnixNano() - first.UnixNano(), c_.now.UnixNano());
  PointBegan(binding, framework::Point::kPostBind);
  for (const auto& [plugin, index] : profile.post_bind) {
    plugin->PostBind(c_.cluster, *binding.snapshot, binding.node);
    PluginEnded(binding, framework::Point::kPostBind, index, framework::Code::kSuccess);
  }
  PointEnded(binding, framework::Point::kPostBind, framework::Code::kSuccess);
  if (binding.watched) LogBindingTimes(binding.ref, binding.record);
  if (c_.observer != nullptr) {
    c_.observer->Bound(binding.ref, binding.node_name, binding.info, c_.now, binding.watched);
  }
  const PodId id = binding.pod;
  const PodSnapshot snapshot = binding.snapshot;
  const PodKey key = binding.key;
  bindings_.erase(key);
  if (id == cluster::kNoPod) return;
  if (c_.pods.Of(id).deleted) {
    c_.intake->ForgetPod(id);
    c_.Move({queue::EventResource::kAssignedPod, queue::kDelete}, snapshot, {});
  } else if (c_.options.assumed_ttl_ns > 0 && c_.options.behaviour.assumed_pods_expire &&
             !c_.pods.Of(id).assigned) {
    expiry_.emplace(After(c_.now, c_.options.assumed_ttl_ns), key);
  }
}

// The watch never showed a binding that was reported as done.
void Bindings::ExpireAssumed(const PodKey& key) {
  const PodId id = c_.cluster.FindPod(key);
  if (id == cluster::kNoPod || !c_.cluster.GetPod(id).assumed || FindBinding(key) != nullptr)
    return;
  const PodSnapshot old = c_.cluster.Snapshot(id);
  c_.cluster.Forget(id);
  if (const auto newer = std::move(c_.pods.Of(id).newer)) c_.intake->TakeUp(id, *newer);
  c_.queue->Add(id, c_.pods.Of(id).profile, c_.now);
  c_.Move({queue::EventResource::kAssignedPod, queue::kDelete}, old, {});
}

// --- Failure

// `message`: as the pod's event has it.
void Bindings::TellBindFailed(const Binding& failed, std::string_view message) {
  const framework::Profile& profile = *c_.runtimes[failed.profile].profile;
  if (c_.observer == nullptr || failed.binder >= profile.Plugins().size()) return;
  const std::string_view plugin = profile.At(failed.binder).Name();
  const std::string prefix = fmt::format("running Bind plugin \"{}\": ", plugin);
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  c_.observer->PluginFailed(failed.ref, framework::Point::kBind, plugin, failed.node_name, message);
}

// Gives everything back, in reverse, and queues the pod again. `binding` is gone afterwards.
void Bindings::BindingFailed(Binding& binding, bool rejected, std::string message, uint8_t plugin) {
  const auto it = bindings_.find(binding.key);
  const std::unique_ptr<Binding> failed = std::move(it->second);
  bindings_.erase(it);
  PermitOver(*failed, rejected ? framework::Code::kUnschedulable : framework::Code::kError);
  if (!failed->extender_binds &&
      (failed->stage == Binding::Stage::kBind || failed->stage == Binding::Stage::kConfirm)) {
    PluginEnded(*failed, framework::Point::kBind, failed->binder, framework::Code::kError);
    PointEnded(*failed, framework::Point::kBind, framework::Code::kError);
    TellBindFailed(*failed, message);
  }

  const cluster::Pod& as_assumed = *failed->snapshot;
  const framework::CycleContext context{c_.cluster, as_assumed, *as_assumed.shape};
  // Also tasks that are done, or have not begun: an earlier attempt may have left something.
  for (PreBindRun& run : failed->runs) {
    for (framework::ApiWrite& write : run.work.task->Undo(c_.cluster)) {
      c_.outbox.Emit(WriteObject{std::move(write)});
    }
    TellOfPod(*failed, run);
  }
  PointBegan(*failed, framework::Point::kUnreserve);
  RunUnreserve(*c_.runtimes[failed->profile].profile, context, failed->node, [&](uint8_t done) {
    PluginEnded(*failed, framework::Point::kUnreserve, done, framework::Code::kSuccess);
  });
  PointEnded(*failed, framework::Point::kUnreserve, framework::Code::kSuccess);
  failed->runs.clear();
  ReturnFailed(*failed, rejected, std::move(message), plugin);
  for (const Binding::Preemptor& preemptor : failed->preemptors) {
    c_.preemptions->PreemptedInMemory(preemptor.preemption, preemptor.victim);
  }
}

// The pod leaves its node and is queued again.
void Bindings::ReturnFailed(const Binding& failed, bool rejected, std::string message,
                            uint8_t plugin) {
  const bool forgets = c_.options.behaviour.forgets_terminating_assumed_pods;
  const queue::Event gone{
      {queue::EventResource::kAssignedPod, queue::kDelete}, failed.snapshot, {}};
  const PodId id = failed.pod;
  if (id == cluster::kNoPod) {
    if (forgets) c_.queue->Move(gone, c_.now);
    return;
  }
  const bool assumed = c_.cluster.GetPod(id).assumed;
  // Else it has left the node already, and what plugins reserved for it is free only now.
  const bool announces = assumed || (forgets && !c_.pods.Of(id).assigned);
  if (assumed && c_.options.planted_bug != PlantedBug::kMissedForget) c_.cluster.Forget(id);
  Failure failure;
  failure.rejected = rejected;
  failure.info = failed.info;
  failure.nomination = c_.NominationOfFailure();
  failure.was_nominated = failed.nominated;
  if (failed.stage == Binding::Stage::kWaiting && rejected) {
    failure.message = fmt::format("0/1 nodes are available: 1 {}.", message);
    if (plugin < 64) failure.unschedulable = queue::MaskOf(plugin);
  } else {
    failure.message = std::move(message);
  }
  // What the pod held is free. A rejected pod is not helped by its own leaving.
  if (announces && !rejected) c_.queue->Move(gone, c_.now);
  c_.attempts->Fail(id, failure);
  if (announces && rejected) {
    c_.queue->MoveIf(gone, c_.now, [id](const queue::QueuedPod& pod) { return pod.pod != id; });
  }
}

// True: an extender binds the pod, in place of the Bind plugins.
bool Bindings::SendExtenderBind(Binding& binding) {
  const ExtenderMask mask = binding.extenders & c_.extenders.With(CallExtender::Verb::kBind);
  const int next = mask == 0 ? -1 : NextExtender(mask, binding.next_extender);
  if (next < 0) return false;
  binding.next_extender = static_cast<size_t>(next) + 1;
  binding.extender_binds = true;
  binding.binder = queue::kNoPlugin;
  if (c_.wants->binds) c_.observer->BindBegan(binding.ref, binding.node_name);
  CallExtender call;
  call.extender = static_cast<size_t>(next);
  call.verb = CallExtender::Verb::kBind;
  call.pod = binding.ref;
  call.nodes = {binding.node_name};
  c_.outbox.EmitAwaited(std::move(call), {Awaited::For::kBinding, binding.key, 0, 0});
  return true;
}

void Bindings::ExtenderBindFailed(Binding& binding, const EffectResult& result) {
  binding.extender_binds = false;
  const bool unclear = result.code == EffectResult::Code::kUnknown;
  if (unclear && binding.pod != cluster::kNoPod) c_.pods.Of(binding.pod).unclear_binding = true;
  if (c_.extenders.At(binding.next_extender - 1).ignorable) {
    BindNow(binding);
    return;
  }
  binding.bind_error = result.message;
  if (!unclear) {
    BindingFailed(binding, false, binding.bind_error, binding.binder);
    return;
  }
  binding.stage = Binding::Stage::kConfirm;
  c_.outbox.EmitAwaited(ReadPod{binding.ref}, {Awaited::For::kBinding, binding.key, 0, 0});
}

void Bindings::WakeAt(Binding& binding, const api::Time& when) {
  binding.wake = when;
  timers_.emplace(when, binding.key);
}

Binding* Bindings::FindBinding(const PodKey& key) {
  const auto it = bindings_.find(key);
  return it == bindings_.end() ? nullptr : it->second.get();
}

void Bindings::LogBindingTimes(const PodRef& pod, uint64_t record) {
  if (c_.observer == nullptr) return;
  if (const PointTimes* times = c_.observer->BindingTimes(pod)) c_.log.Timed(record, *times);
}

const Binding* Bindings::FindBinding(const PodKey& key) const {
  const auto it = bindings_.find(key);
  return it == bindings_.end() ? nullptr : it->second.get();
}

Binding& Bindings::Add(std::unique_ptr<Binding> binding) {
  Binding& added = *binding;
  bindings_[added.key] = std::move(binding);
  return added;
}

// --- Time

void Bindings::Advance() {
  while (!timers_.empty() && timers_.begin()->first <= c_.now) {
    const PodKey key = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Binding* binding = FindBinding(key);
    if (binding == nullptr || !binding->wake || *binding->wake > c_.now) continue;
    binding->wake.reset();
    WakeBinding(*binding);
  }
  while (!expiry_.empty() && expiry_.begin()->first <= c_.now) {
    const PodKey key = expiry_.begin()->second;
    expiry_.erase(expiry_.begin());
    ExpireAssumed(key);
  }
}

std::optional<api::Time> Bindings::NextWake() const {
  std::optional<api::Time> next;
  for (const auto* timers : {&timers_, &expiry_}) {
    if (timers->empty()) continue;
    if (!next || timers->begin()->first < *next) next = timers->begin()->first;
  }
  return next;
}

}  // namespace berth::scheduler

#include "scheduler/engine.h"

#include <algorithm>

#include "plugins/common/resource_version.h"
#include "scheduler/engine_impl.h"

namespace berth::scheduler {

int64_t VersionNumber(std::string_view resource_version) {
  return plugins::ParseVersion(resource_version).value_or(-1);
}

queue::PluginId ProfileRuntime::IdOf(std::string_view name) const {
  if (name == framework::kExtenderName) return hints->ExtenderPosition();
  const auto plugins = profile->Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i]->Name() == name) return static_cast<queue::PluginId>(i);
  }
  return queue::kNoPlugin;
}

std::string_view ProfileRuntime::NameOf(queue::PluginId plugin) const {
  if (plugin == hints->ExtenderPosition()) return framework::kExtenderName;
  return profile->At(plugin).Name();
}

PluginMask ProfileRuntime::MaskOf(const std::set<std::string>& names) const {
  PluginMask mask = 0;
  for (const std::string& name : names) {
    const queue::PluginId id = IdOf(name);
    if (id < 64) mask |= queue::MaskOf(id);
  }
  return mask;
}

// --- Making one

Engine::Impl::Impl(const EngineOptions& options, const api::Time& now, EngineObserver* observer)
    : options_(options),
      now_(now),
      observer_(observer),
      nobody_wants_{
          .cycles = false, .pods = false, .queues = false, .scheduled = false, .binds = false},
      wants_(observer != nullptr ? &observer->wants() : &nobody_wants_),
      algorithm_(options.algorithm) {
  cluster_.SetRequestRules(options.behaviour.requests);
}

Engine::Impl::~Impl() = default;

Result<void> Engine::Impl::Init(const config::KubeSchedulerConfiguration& config,
                                framework::Executor* executor) {
  if (options_.call_extenders) {
    auto extenders = ExtenderSet::Make(config, options_.behaviour);
    if (!extenders) return berth::Fail(extenders.error());
    extenders_ = std::move(*extenders);
  }
  auto profiles = ProfileSet::Make(config, options_.behaviour, cluster_, executor,
                                   options_.algorithm.seed, options_.extra_plugins);
  if (!profiles) return berth::Fail(profiles.error());
  profiles_.emplace(std::move(*profiles));
  for (const auto& profile : profiles_->Profiles()) {
    auto hints = framework::HintMap::Make(*profile, /*with_extenders=*/!config.extenders.empty());
    if (!hints) return berth::Fail(hints.error().In("profile \"" + profile->Name() + "\""));
    ProfileRuntime runtime;
    runtime.profile = profile.get();
    runtime.cycle = profiles_->CycleFor(profile->Name());
    runtime.hints = std::make_unique<framework::HintMap>(std::move(*hints));
    for (const auto& [plugin, index] : profile->permit) {
      auto* later = dynamic_cast<framework::WaitingPodsPlugin*>(plugin);
      if (later != nullptr) deciding_later_.push_back(later);
    }
    for (const auto& plugin : profile->Plugins()) {
      auto* aware = dynamic_cast<framework::TimeAwarePlugin*>(plugin.get());
      if (aware == nullptr) continue;
      aware->SetTime(now_);
      time_aware_.push_back(aware);
    }
    runtimes_.push_back(std::move(runtime));
  }
  queue::QueueOptions queue_options;
  queue_options.backoff.initial_ns = config.pod_initial_backoff_seconds * 1'000'000'000;
  queue_options.backoff.max_ns = config.pod_max_backoff_seconds * 1'000'000'000;
  queue_options.pop_from_backoff = options_.behaviour.pop_from_backoff;
  queue_options.backoff.align_to_second = options_.behaviour.pop_from_backoff;
  queue_options.max_in_unschedulable_ns = options_.max_in_unschedulable_ns;
  queue_ = std::make_unique<queue::SchedulingQueue>(*this, runtimes_.size(), queue_options);
  return {};
}

// --- QueueHost

bool Engine::Impl::Less(const queue::QueuedPod& a, const queue::QueuedPod& b) const {
  const auto& sort = runtimes_[a.profile].profile->queue_sort;
  return sort.front().plugin->Less(cluster_.GetPod(a.pod), a.timestamp.UnixNano(),
                                   cluster_.GetPod(b.pod), b.timestamp.UnixNano());
}

queue::Gate Engine::Impl::PreEnqueue(const queue::QueuedPod& pod, queue::PluginId first) const {
  const bool timed =
      observer_ != nullptr && IsDue(wants_->skip_pre_enqueues) && observer_->PreEnqueueBegan();
  const queue::Gate gate = AskPreEnqueue(pod, first, timed);
  if (timed) {
    using framework::Code;
    const Code code = gate.plugin == queue::kNoPlugin ? Code::kSuccess
                      : gate.pending                  ? Code::kPending
                                                      : Code::kUnschedulableAndUnresolvable;
    observer_->PreEnqueueEnded(runtimes_[pod.profile].profile->Name(), code);
  }
  return gate;
}

queue::Gate Engine::Impl::AskPreEnqueue(const queue::QueuedPod& pod, queue::PluginId first,
                                        bool timed) const {
  const EnqueueGate gate = RunPreEnqueue(
      *runtimes_[pod.profile].profile, cluster_, cluster_.GetPod(pod.pod), first,
      [&](const framework::PreEnqueuePlugin& plugin, const framework::Status& status) {
        if (timed) observer_->PreEnqueueAsked(plugin.Name(), status.code());
        if (status.Ok() || observer_ == nullptr || !wants_->queues) return;
        observer_->Gated(cluster_.GetPod(pod.pod), plugin.Name(), status);
      });
  if (gate.Open()) return {};
  return {gate.plugin, gate.status.code() == framework::Code::kPending};
}

PluginMask Engine::Impl::Registered(uint8_t profile, const queue::ClusterEvent& event) const {
  return runtimes_[profile].hints->PluginsFor(event);
}

bool Engine::Impl::MayHelp(const queue::QueuedPod& pod, queue::PluginId plugin,
                           const queue::Event& event) const {
  const bool timed = observer_ != nullptr && IsDue(wants_->skip_hints) && observer_->HintBegan();
  const auto hint =
      runtimes_[pod.profile].hints->Ask(plugin, cluster_, cluster_.GetPod(pod.pod), event);
  const bool queues = !hint || *hint == framework::Hint::kQueue;
  if (timed) {
    observer_->HintEnded(runtimes_[pod.profile].NameOf(plugin), event.what.Label(),
                         !hint    ? "Error"
                         : queues ? "Queue"
                                  : "QueueSkip");
  }
  log_.Hinted(pod.pod, plugin, queues);
  return queues;
}

void Engine::Impl::Moved(const queue::QueuedPod& pod, queue::QueueName queue,
                         std::string_view event, bool is_new) {
  log_.Moved(pod, queue, event, is_new, now_.UnixNano());
  if (!wants_->queues) return;
  // Gated pods are counted as unschedulable ones: kube-scheduler has no word for them here.
  const bool gated = queue == queue::QueueName::kGated;
  observer_->QueueIncoming(cluster_.GetPod(pod.pod),
                           gated ? queue::QueueName::kUnschedulable : queue, event, pod,
                           *runtimes_[pod.profile].profile);
}

// --- Time

void Engine::Impl::AdvanceTo(const api::Time& now) {
  now_ = std::max(now_, now);
  for (framework::TimeAwarePlugin* plugin : time_aware_) plugin->SetTime(now_);
  if (extended_) return;
  queue_->Advance(now_);
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const PodKey key = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Binding* binding = FindBinding(key);
    if (binding == nullptr || !binding->wake || *binding->wake > now_) continue;
    binding->wake.reset();
    WakeBinding(*binding);
  }
  while (!expiry_.empty() && expiry_.begin()->first <= now_) {
    const PodKey key = expiry_.begin()->second;
    expiry_.erase(expiry_.begin());
    ExpireAssumed(key);
  }
}

std::optional<api::Time> Engine::Impl::NextWake() const {
  if (extended_) return std::nullopt;
  std::optional<api::Time> next = queue_->NextWake();
  for (const auto* timers : {&timers_, &expiry_}) {
    if (timers->empty()) continue;
    if (!next || timers->begin()->first < *next) next = timers->begin()->first;
  }
  return next;
}

void Engine::Impl::WakeAt(Binding& binding, const api::Time& when) {
  binding.wake = when;
  timers_.emplace(when, binding.key);
}

// --- Effects

EffectId Engine::Impl::Emit(EffectAction action) {
  const EffectId id = next_effect_++;
  // Effects are large: a growing list of them would be moved about.
  if (effects_.empty()) effects_.reserve(usual_effects_);
  effects_.emplace_back(id, std::move(action));
  return id;
}

void Engine::Impl::EmitAwaited(EffectAction action, Awaited awaited) {
  awaited.extender = std::holds_alternative<CallExtender>(action);
  awaited_extenders_ += awaited.extender ? 1 : 0;
  const EffectId id = Emit(std::move(action));
  awaited_.emplace(id, std::move(awaited));
}

void Engine::Impl::Complete(EffectResult result) {
  const auto it = awaited_.find(result.id);
  if (it == awaited_.end()) return;
  ++changes_;
  const Awaited awaited = std::move(it->second);
  awaited_.erase(it);
  awaited_extenders_ -= awaited.extender ? 1 : 0;
  switch (awaited.what) {
    case Awaited::For::kBinding:
      if (Binding* binding = FindBinding(awaited.pod)) BindingResult(*binding, std::move(result));
      break;
    case Awaited::For::kNomination:
    case Awaited::For::kVictimCondition:
    case Awaited::For::kVictimDeletion:
      PreemptionResult(awaited, result);
      break;
    case Awaited::For::kExtender:
      ExtenderResult(awaited.victim, result);
      break;
    case Awaited::For::kActivate:
      if (result.code == EffectResult::Code::kOk) break;
      if (const PodId id = cluster_.FindPod(awaited.pod); id != cluster::kNoPod) {
        queue_->Activate(id, now_);
      }
      break;
  }
}

void Engine::Impl::Record(const PodRef& pod, std::optional<PodRef> related, std::string_view type,
                          std::string_view reason, std::string_view action, std::string note,
                          std::string_view scheduler_name) {
  RecordEvent event;
  event.regarding = pod;
  event.related = std::move(related);
  event.type = type;
  event.reason = reason;
  event.action = action;
  event.note = std::move(note);
  event.reporting_controller = scheduler_name;
  Emit(std::move(event));
}

PodRef Engine::Impl::RefOf(const cluster::Pod& pod) const {
  const PodRecord* record = pod.id == cluster::kNoPod ? nullptr : FindRecord(pod.id);
  PodRef ref{pod.namespace_(), pod.name, pod.uid};
  if (record != nullptr && record->version >= 0) {
    ref.resource_version = std::to_string(record->version);
  }
  return ref;
}

// --- Tables

PodRecord& Engine::Impl::RecordOf(PodId id) {
  if (id >= records_.size()) records_.resize(id + 1);
  return records_[id];
}

const PodRecord* Engine::Impl::FindRecord(PodId id) const {
  return id < records_.size() && records_[id].known ? &records_[id] : nullptr;
}

Binding* Engine::Impl::FindBinding(const PodKey& key) {
  const auto it = bindings_.find(key);
  return it == bindings_.end() ? nullptr : it->second.get();
}

PodKey Engine::Impl::KeyOf(std::string_view uid) const {
  const PodId id = cluster_.FindPod(uid);
  return id == cluster::kNoPod ? PodKey() : cluster_.GetPod(id).key();
}

// --- The outside

Engine::Engine() = default;
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Make(const config::KubeSchedulerConfiguration& config,
                                             const EngineOptions& options, const api::Time& now,
                                             framework::Executor* executor,
                                             EngineObserver* observer) {
  EngineOptions own = options;
  for (const config::Extender& extender : config.extenders) {
    const bool chooses = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    if (chooses && own.call_extenders) own.algorithm.extenders_choose = true;
  }
  std::unique_ptr<Engine> engine(new Engine());
  engine->impl_ = std::make_unique<Impl>(own, now, observer);
  if (auto done = engine->impl_->Init(config, executor); !done) return berth::Fail(done.error());
  return engine;
}

void Engine::AdvanceTo(const api::Time& now) {
  impl_->AdvanceTo(now);
  impl_->InputTaken();
}
void Engine::Upsert(api::Object object) {
  if (impl_->MayChangeDecisions(object)) ++impl_->changes_;
  if (impl_->extended_) {
    impl_->deferred_.push_back(std::move(object));
  } else {
    impl_->Upsert(std::move(object));
    impl_->InputTaken();
  }
}
void Engine::UpdateStatus(api::Pod pod) {
  ++impl_->changes_;
  if (impl_->extended_) {
    impl_->deferred_.push_back(DeferredStatus{std::move(pod)});
  } else {
    impl_->UpdateStatus(std::move(pod));
    impl_->InputTaken();
  }
}
void Engine::Delete(const api::Object& object) {
  ++impl_->changes_;
  if (impl_->extended_) {
    impl_->deferred_.push_back(DeferredDelete{object});
  } else {
    impl_->Delete(object);
    impl_->InputTaken();
  }
}
void Engine::Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part) {
  ++impl_->changes_;
  if (impl_->extended_) {
    impl_->deferred_.push_back(DeferredReplace{std::string(kind), std::move(objects), part});
  } else {
    impl_->Replace(kind, std::move(objects), part);
    impl_->InputTaken();
  }
}
void Engine::Complete(EffectResult result) {
  if (impl_->extended_ && !impl_->AnswersExtender(result.id)) {
    impl_->deferred_.push_back(std::move(result));
  } else {
    impl_->Complete(std::move(result));
    impl_->InputTaken();
  }
}
bool Engine::WaitsForAnswer() const { return impl_->WaitsForAnswer(); }
bool Engine::Step() {
  const bool stepped = impl_->Step();
  impl_->InputTaken();
  return stepped;
}
std::vector<Effect> Engine::TakeEffects() {
  if (!impl_->effects_.empty()) impl_->usual_effects_ = impl_->effects_.size();
  return std::exchange(impl_->effects_, {});
}
std::optional<api::Time> Engine::NextWake() const { return impl_->NextWake(); }
bool Engine::Allow(std::string_view pod_uid, std::string_view plugin) {
  const PodKey key = impl_->KeyOf(pod_uid);
  if (impl_->extended_) return impl_->DeferPermit(true, key, plugin, "");
  return impl_->Allow(key, plugin);
}
bool Engine::Reject(std::string_view pod_uid, std::string_view plugin, std::string_view message) {
  const PodKey key = impl_->KeyOf(pod_uid);
  if (impl_->extended_) return impl_->DeferPermit(false, key, plugin, message);
  return impl_->Reject(key, plugin, message);
}
const cluster::Cluster& Engine::GetCluster() const { return impl_->cluster_; }
const queue::SchedulingQueue& Engine::Queue() const { return *impl_->queue_; }
const std::vector<EventMoves>& Engine::IncomingPods() const { return impl_->log_.Events(); }
size_t Engine::ProfileCount() const { return impl_->runtimes_.size(); }
const framework::Cycle& Engine::CycleOf(size_t profile) const {
  return *impl_->runtimes_[profile].cycle;
}
const std::vector<config::Extender>& Engine::Extenders() const { return impl_->extenders_.All(); }
size_t Engine::AssumedPods() const { return impl_->AssumedPods(); }
size_t Engine::AwaitedEffects() const { return impl_->awaited_.size(); }
size_t Engine::AwaitedRequests() const {
  return impl_->awaited_.size() - impl_->awaited_extenders_;
}
size_t Engine::BindingPods() const { return impl_->bindings_.size(); }
Source Engine::Explaining() { return impl_->Explaining(); }
std::string_view Engine::WhereIs(std::string_view pod_uid) const { return impl_->WhereIs(pod_uid); }
std::vector<std::string> Engine::Invariants() const {
  return impl_->contradictions_.empty() ? impl_->Contradictions() : impl_->contradictions_;
}

}  // namespace berth::scheduler

#include "scheduler/engine.h"

#include <algorithm>

#include "queue/grouped_queue.h"
#include "scheduler/engine/impl.h"
#include "scheduler/group_adoption.h"

namespace berth::scheduler {

// --- Making one

Engine::Impl::Impl(const EngineOptions& options, const api::Time& now, EngineObserver* observer)
    : c_(options, now, observer),
      intake_(c_),
      attempts_(c_),
      bindings_(c_),
      preemptions_(c_),
      extender_calls_(c_),
      requests_(c_) {
  c_.intake = &intake_;
  c_.attempts = &attempts_;
  c_.bindings = &bindings_;
  c_.preemptions = &preemptions_;
  c_.extender_calls = &extender_calls_;
  c_.cluster.SetRequestRules(options.behaviour.requests);
}

Engine::Impl::~Impl() = default;

Result<void> Engine::Impl::Init(const config::KubeSchedulerConfiguration& config,
                                framework::Executor* executor) {
  if (c_.options.call_extenders) {
    auto extenders = ExtenderSet::Make(config, c_.options.behaviour);
    if (!extenders) return berth::Fail(extenders.error());
    c_.extenders = std::move(*extenders);
  }
  auto profiles = ProfileSet::Make(config, c_.options.behaviour, c_.cluster, executor,
                                   c_.options.algorithm.seed, c_.options.extra_plugins, &requests_);
  if (!profiles) return berth::Fail(profiles.error());
  c_.profiles.emplace(std::move(*profiles));
  for (const auto& profile : c_.profiles->Profiles()) {
    auto hints = framework::HintMap::Make(*profile, /*with_extenders=*/!config.extenders.empty());
    if (!hints) return berth::Fail(hints.error().In("profile \"" + profile->Name() + "\""));
    ProfileRuntime runtime;
    runtime.profile = profile.get();
    runtime.cycle = c_.profiles->CycleFor(profile->Name());
    runtime.hints = std::make_unique<framework::HintMap>(std::move(*hints));
    for (const auto& [plugin, index] : profile->permit) {
      auto* later = dynamic_cast<framework::WaitingPodsPlugin*>(plugin);
      if (later != nullptr) bindings_.AddDecider(later);
    }
    for (const auto& plugin : profile->Plugins()) {
      auto* aware = dynamic_cast<framework::TimeAwarePlugin*>(plugin.get());
      if (aware == nullptr) continue;
      aware->SetTime(c_.now);
      time_aware_.push_back(aware);
    }
    c_.runtimes.push_back(std::move(runtime));
  }
  attempts_.FollowBatching(config);
  queue::QueueOptions queue_options;
  queue_options.backoff.initial_ns = config.pod_initial_backoff_seconds * 1'000'000'000;
  queue_options.backoff.max_ns = config.pod_max_backoff_seconds * 1'000'000'000;
  queue_options.pop_from_backoff = c_.options.behaviour.pop_from_backoff;
  queue_options.backoff.align_to_second = c_.options.behaviour.pop_from_backoff;
  queue_options.max_in_unschedulable_ns = c_.options.max_in_unschedulable_ns;
  queue_options.pending_pod = c_.events.PendingPod();
  const config::Behaviour& behaviour = c_.options.behaviour;
  queue_options.wildcard_events_reach_gated_pods = behaviour.wildcard_events_reach_gated_pods;
  queue_options.activation_from_backoff_skips_pre_enqueue =
      behaviour.activation_from_backoff_skips_pre_enqueue;
  queue_options.flush_counts_from_last_flush = behaviour.flush_counts_from_last_flush;
  if (!behaviour.pod_groups) {
    c_.queue = std::make_unique<queue::SchedulingQueue>(*this, c_.runtimes.size(), queue_options);
    return {};
  }
  auto grouped =
      std::make_unique<queue::GroupedQueue>(*this, c_.cluster, c_.runtimes.size(), queue_options);
  attempts_.FollowGroups(*grouped);
  c_.queue = std::move(grouped);
  return {};
}

// --- QueueHost

bool Engine::Impl::Less(const queue::QueuedPod& a, const queue::QueuedPod& b) const {
  const framework::QueueSortPlugin& sort =
      *c_.runtimes[a.profile].profile->queue_sort.front().plugin;
  const auto time = [first = sort.ByFirstAttempt()](const queue::QueuedPod& pod) {
    return (first ? pod.initial_attempt.value_or(pod.timestamp) : pod.timestamp).UnixNano();
  };
  return sort.Less(c_.cluster, c_.cluster.GetPod(a.pod), time(a), c_.cluster.GetPod(b.pod),
                   time(b));
}

queue::Gate Engine::Impl::PreEnqueue(const queue::QueuedPod& pod, queue::PluginId first) const {
  const bool timed = c_.observer != nullptr && IsDue(c_.wants->skip_pre_enqueues) &&
                     c_.observer->PreEnqueueBegan();
  const queue::Gate gate = AskPreEnqueue(pod, first, timed);
  if (timed) {
    using framework::Code;
    const Code code = gate.plugin == queue::kNoPlugin ? Code::kSuccess
                      : gate.pending                  ? Code::kPending
                                                      : Code::kUnschedulableAndUnresolvable;
    c_.observer->PreEnqueueEnded(c_.runtimes[pod.profile].profile->Name(), code);
  }
  return gate;
}

queue::Gate Engine::Impl::AskPreEnqueue(const queue::QueuedPod& pod, queue::PluginId first,
                                        bool timed) const {
  const EnqueueGate gate = RunPreEnqueue(
      *c_.runtimes[pod.profile].profile, c_.cluster, c_.cluster.GetPod(pod.pod), first,
      [&](const framework::PreEnqueuePlugin& plugin, const framework::Status& status) {
        if (timed) c_.observer->PreEnqueueAsked(plugin.Name(), status.code());
        if (status.Ok() || c_.observer == nullptr || !c_.wants->queues) return;
        c_.observer->Gated(c_.cluster.GetPod(pod.pod), plugin.Name(), status);
      });
  if (gate.Open()) return {};
  return {gate.plugin, gate.status.code() == framework::Code::kPending};
}

PluginMask Engine::Impl::Registered(uint8_t profile, const queue::ClusterEvent& event) const {
  return c_.runtimes[profile].hints->PluginsFor(event);
}

bool Engine::Impl::MayHelp(const queue::QueuedPod& pod, queue::PluginId plugin,
                           const queue::Event& event) const {
  const bool timed =
      c_.observer != nullptr && IsDue(c_.wants->skip_hints) && c_.observer->HintBegan();
  const auto hint =
      c_.runtimes[pod.profile].hints->Ask(plugin, c_.cluster, c_.cluster.GetPod(pod.pod), event);
  const bool queues = !hint || *hint == framework::Hint::kQueue;
  if (timed) {
    c_.observer->HintEnded(c_.runtimes[pod.profile].NameOf(plugin), event.what.Label(),
                           !hint    ? "Error"
                           : queues ? "Queue"
                                    : "QueueSkip");
  }
  c_.log.Hinted(pod.pod, plugin, queues);
  return queues;
}

void Engine::Impl::Moved(const queue::QueuedPod& pod, queue::QueueName queue,
                         std::string_view event, bool is_new) {
  c_.log.Moved(pod, queue, event, is_new, c_.now.UnixNano());
  if (!c_.wants->queues) return;
  // Gated pods are counted as unschedulable ones: kube-scheduler has no word for them here.
  const bool gated = queue == queue::QueueName::kGated;
  c_.observer->QueueIncoming(c_.cluster.GetPod(pod.pod),
                             gated ? queue::QueueName::kUnschedulable : queue, event, pod,
                             *c_.runtimes[pod.profile].profile);
}

// --- Time

void Engine::Impl::AdvanceTo(const api::Time& now) {
  c_.now = std::max(c_.now, now);
  for (framework::TimeAwarePlugin* plugin : time_aware_) plugin->SetTime(c_.now);
  if (extender_calls_.Waiting()) return;
  c_.queue->Advance(c_.now);
  bindings_.Advance();
}

std::optional<api::Time> Engine::Impl::NextWake() const {
  if (extender_calls_.Waiting()) return std::nullopt;
  std::optional<api::Time> next = c_.queue->NextWake();
  const std::optional<api::Time> binding = bindings_.NextWake();
  if (binding && (!next || *binding < *next)) next = binding;
  return next;
}

// --- Effects

void Engine::Impl::Complete(EffectResult result) {
  const std::optional<Awaited> awaited = c_.outbox.TakeAwaited(result.id);
  if (!awaited) return;
  ++c_.changes;
  switch (awaited->what) {
    case Awaited::For::kBinding:
      if (Binding* binding = bindings_.FindBinding(awaited->pod)) {
        bindings_.BindingResult(*binding, awaited->victim, std::move(result));
      }
      break;
    case Awaited::For::kExpectation:
      if (Binding* binding = bindings_.FindBinding(awaited->pod)) bindings_.Nominated(*binding);
      break;
    case Awaited::For::kNomination:
    case Awaited::For::kVictimCondition:
    case Awaited::For::kVictimDeletion:
      preemptions_.PreemptionResult(*awaited, result);
      break;
    case Awaited::For::kExtender:
      if (extender_calls_.ExtenderResult(awaited->victim, result)) TakeUpDeferred();
      break;
    case Awaited::For::kActivate:
      if (result.code == EffectResult::Code::kOk) break;
      if (const PodId id = c_.cluster.FindPod(awaited->pod); id != cluster::kNoPod) {
        c_.queue->Activate(id, c_.now);
      }
      break;
  }
}

// --- Inputs that wait for extenders

bool Engine::Impl::DeferPermit(bool allow, const PodKey& key, std::string_view plugin,
                               std::string_view message) {
  const Binding* binding = bindings_.FindBinding(key);
  if (binding == nullptr || binding->stage != Binding::Stage::kWaiting) return false;
  deferred_.push_back(DeferredPermit{allow, key, std::string(plugin), std::string(message)});
  return true;
}

void Engine::Impl::TakeUpDeferred() {
  std::vector<DeferredInput> inputs = std::exchange(deferred_, {});
  AdvanceTo(c_.now);
  for (DeferredInput& input : inputs) {
    std::visit(
        [this]<class T>(T& value) {
          if constexpr (std::is_same_v<T, api::Object>) {
            intake_.Upsert(std::move(value));
          } else if constexpr (std::is_same_v<T, DeferredDelete>) {
            intake_.Delete(value.object);
          } else if constexpr (std::is_same_v<T, DeferredStatus>) {
            intake_.UpdateStatus(std::move(value.pod));
          } else if constexpr (std::is_same_v<T, DeferredReplace>) {
            intake_.Replace(value.kind, std::move(value.objects), value.part);
          } else if constexpr (std::is_same_v<T, DeferredMetrics>) {
            c_.cluster.SetMetrics(value.node, std::move(value.metrics));
          } else if constexpr (std::is_same_v<T, EffectResult>) {
            Complete(std::move(value));
          } else if (value.allow) {
            bindings_.Allow(value.pod, value.plugin);
          } else {
            bindings_.Reject(value.pod, value.plugin, value.message);
          }
        },
        input);
  }
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
  auto groups = AdoptedGroupsOf(config, options.behaviour, options.extra_plugins);
  if (!groups) return berth::Fail(groups.error());
  // Groups of other APIs need what those of Kubernetes need.
  if (!groups->Empty()) own.behaviour.pod_groups = true;
  std::unique_ptr<Engine> engine(new Engine());
  engine->impl_ = std::make_unique<Impl>(own, now, observer);
  engine->impl_->c_.groups = std::move(*groups);
  if (auto done = engine->impl_->Init(config, executor); !done) return berth::Fail(done.error());
  return engine;
}

void Engine::AdvanceTo(const api::Time& now) {
  impl_->AdvanceTo(now);
  impl_->InputTaken();
}
void Engine::Upsert(api::Object object) {
  if (impl_->MayChangeDecisions(object)) ++impl_->c_.changes;
  if (impl_->extender_calls_.Waiting()) {
    impl_->deferred_.push_back(std::move(object));
  } else {
    impl_->intake_.Upsert(std::move(object));
    impl_->InputTaken();
  }
}
void Engine::UpdateStatus(api::Pod pod) {
  ++impl_->c_.changes;
  if (impl_->extender_calls_.Waiting()) {
    impl_->deferred_.push_back(DeferredStatus{std::move(pod)});
  } else {
    impl_->intake_.UpdateStatus(std::move(pod));
    impl_->InputTaken();
  }
}
void Engine::Delete(const api::Object& object) {
  ++impl_->c_.changes;
  if (impl_->extender_calls_.Waiting()) {
    impl_->deferred_.push_back(DeferredDelete{object});
  } else {
    impl_->intake_.Delete(object);
    impl_->InputTaken();
  }
}
void Engine::Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part) {
  ++impl_->c_.changes;
  if (impl_->extender_calls_.Waiting()) {
    impl_->deferred_.push_back(DeferredReplace{std::string(kind), std::move(objects), part});
  } else {
    impl_->intake_.Replace(kind, std::move(objects), part);
    impl_->InputTaken();
  }
}
void Engine::UpdateNodeMetrics(std::string_view node, cluster::NodeMetrics metrics) {
  ++impl_->c_.changes;
  if (impl_->extender_calls_.Waiting()) {
    impl_->deferred_.push_back(DeferredMetrics{std::string(node), std::move(metrics)});
  } else {
    impl_->c_.cluster.SetMetrics(node, std::move(metrics));
    impl_->InputTaken();
  }
}
void Engine::Complete(EffectResult result) {
  if (impl_->extender_calls_.Waiting() && !impl_->c_.outbox.AwaitsExtender(result.id)) {
    impl_->deferred_.push_back(std::move(result));
  } else {
    impl_->Complete(std::move(result));
    impl_->InputTaken();
  }
}
bool Engine::WaitsForAnswer() const { return impl_->c_.WaitsForAnswer(); }
bool Engine::Step() {
  const bool stepped = impl_->attempts_.Step();
  impl_->InputTaken();
  return stepped;
}
std::vector<Effect> Engine::TakeEffects() { return impl_->c_.outbox.Take(); }
std::optional<api::Time> Engine::NextWake() const { return impl_->NextWake(); }
bool Engine::Allow(std::string_view pod_uid, std::string_view plugin) {
  const PodKey key = impl_->c_.KeyOf(pod_uid);
  if (impl_->extender_calls_.Waiting()) return impl_->DeferPermit(true, key, plugin, "");
  return impl_->bindings_.Allow(key, plugin);
}
bool Engine::Reject(std::string_view pod_uid, std::string_view plugin, std::string_view message) {
  const PodKey key = impl_->c_.KeyOf(pod_uid);
  if (impl_->extender_calls_.Waiting()) return impl_->DeferPermit(false, key, plugin, message);
  return impl_->bindings_.Reject(key, plugin, message);
}
const cluster::Cluster& Engine::GetCluster() const { return impl_->c_.cluster; }
const queue::SchedulingQueue& Engine::Queue() const { return *impl_->c_.queue; }
const std::vector<EventMoves>& Engine::IncomingPods() const { return impl_->c_.log.Events(); }
size_t Engine::ProfileCount() const { return impl_->c_.runtimes.size(); }
const framework::Cycle& Engine::CycleOf(size_t profile) const {
  return *impl_->c_.runtimes[profile].cycle;
}
const std::vector<config::Extender>& Engine::Extenders() const { return impl_->c_.extenders.All(); }
size_t Engine::AssumedPods() const { return impl_->AssumedPods(); }
size_t Engine::AwaitedEffects() const { return impl_->c_.outbox.AwaitedCount(); }
size_t Engine::AwaitedRequests() const {
  return impl_->c_.outbox.AwaitedCount() - impl_->c_.outbox.AwaitedExtenders();
}
size_t Engine::BindingPods() const { return impl_->bindings_.bindings().size(); }
Source Engine::Explaining() { return impl_->Explaining(); }
std::string_view Engine::WhereIs(std::string_view pod_uid) const { return impl_->WhereIs(pod_uid); }
std::vector<std::string> Engine::Invariants() const {
  return impl_->contradictions_.empty() ? impl_->Contradictions() : impl_->contradictions_;
}

}  // namespace berth::scheduler

// SchedulerHost: see scheduler_host.h.
#include "kube/host/scheduler_host.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "config/minor_rules.h"
#include "kube/auth/read_file.h"
#include "kube/hands/work_sharing.h"
#include "kube/host/engine_clock.h"
#include "kube/host/latency_trace.h"
#include "kube/host/mailbox.h"
#include "kube/watch/reflector.h"
#include "kube/write/effect_runner.h"
#include "log/log.h"

namespace berth::kube {
namespace {

// No more cycles while so many requests are on their way: what the API server has not even been
// asked for costs memory, and a pod is better placed later, with more known. Calls of extenders do
// not count: one that hangs must not hold up pods that it has no say in.
constexpr size_t kMaxAwaited = 1000;
// For how long cycles run before results and watch events get their turn, and effects are sent off
// together; so many run between two looks at the clock.
constexpr std::chrono::milliseconds kTurn(1);
constexpr int kCyclesPerLook = 16;
// Below it an effect's number, above it the number of the engine that gave it.
constexpr int kGenerationShift = 48;

class Host final : public SchedulerHost, private ObjectSink {
  struct Pacing {
    bool hurried = false;  // all pods wait for one answer
    bool held_back = false;
    bool operator==(const Pacing&) const = default;
  };

 public:
  Host(net::Loop& loop, ApiClient& client, SchedulerHostOptions options,
       cluster::PluginInputs inputs)
      : loop_(loop),
        client_(client),
        options_(std::move(options)),
        inputs_(std::move(inputs)),
        trace_(options_.traces_latency ? LatencyTrace::ToLog() : nullptr),
        traced_client_(trace_ ? MakeTracedClient(client, *trace_) : nullptr),
        known_pods_(static_cast<uint64_t>(loop.Random() * 0x1p53) << 11 ^
                    static_cast<uint64_t>(loop.Random() * 0x1p53)),
        events_(loop, client, options_.host_name),
        runner_(
            loop, client, events_, raw_,
            [this](scheduler::EffectResult result) { OnCarriedOut(std::move(result)); },
            EffectRules(options_.engine.behaviour)),
        extenders_(loop, raw_, options_.make_http_client,
                   [this](scheduler::EffectResult result) {
                     extender_binds_.erase(result.id);
                     OnCarriedOut(std::move(result));
                   }),
        poller_(
            loop, client, options_.make_http_client, capacities_,
            [this](MeasuredNodes nodes) { Tell(LoadOfNodes{std::move(nodes)}); },
            options_.load_polled) {
    MakeReflectors(options_.engine.behaviour);
    if (work_ != nullptr) ShareWork();
  }
  ~Host() override { Stop(); }

  Result<void> Init() {
    auto made = MakeEngine(options_.config, options_.engine.behaviour);
    if (!made) return Fail(made.error());
    metrics_sources_ = std::move(made->metrics_sources);
    UseEngine(*made);
    NameOthers();
    return {};
  }

  Result<NextEngine> MakeEngine(const config::KubeSchedulerConfiguration& config,
                                const config::Behaviour& behaviour) const override {
    if (auto checked = CheckExtendersOf(config, behaviour); !checked) return Fail(checked.error());
    if (auto checked = CheckInputsOf(config, behaviour); !checked) return Fail(checked.error());
    scheduler::EngineOptions options = options_.engine;
    options.behaviour = behaviour;
    const api::Time now = clock_.Now();
    auto engine =
        scheduler::Engine::Make(config, options, now, options_.executor, options_.observer);
    if (!engine) return Fail(engine.error());
    auto sources = SourcesOf(config, behaviour);
    if (!sources) return Fail(sources.error());
    return NextEngine{std::move(*engine), behaviour, config, now, std::move(*sources)};
  }

  void Replace(NextEngine next, net::Nanoseconds patience) override {
    auto shared = std::make_shared<NextEngine>(std::move(next));
    Do([this, shared, until = Mailbox::Clock::now() + patience](scheduler::Engine&) {
      next_ = std::move(*shared);
      replace_at_ = until;
    });
  }

  void Renew() override {
    Do([this](scheduler::Engine&) { renew_ = true; });
  }

  void Start() override {
    loop_.Post([this, extenders = engine_->Extenders(), ours = ProfileNames()] {
      UseExtenders(extenders, watched_);
      known_pods_.Serve(ours);
      events_.Start();
      for (auto& reflector : reflectors_) reflector->Start();
    });
    thread_ = std::thread([this] { RunEngine(); });
  }

  void StartScheduling(const Succession& succession) override {
    loop_.Post([this, succession] { Succeed(succession); });
  }
  size_t Outstanding() const override {
    const size_t shared = work_ ? work_->Outstanding() : 0;
    return runner_.Outstanding() + extender_binds_.size() + shared;
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    mailbox_.Close();
    thread_.join();
  }

  bool Synced() const override { return synced_.load(); }

  Result<void> Followed() const override {
    const std::lock_guard lock(reflectors_mutex_);
    for (const auto& reflector : reflectors_) {
      if (!reflector->IsFollowed()) return Fail("cannot follow " + reflector->TypeName());
    }
    return {};
  }
  void Do(EngineTask task) override { mailbox_.Put(std::move(task)); }
  const OtherPods& Others() const override { return others_; }
  EventRecorder& Events() override { return events_; }

 private:
  Result<std::vector<config::MetricsSource>> SourcesOf(
      const config::KubeSchedulerConfiguration& config, const config::Behaviour& behaviour) const {
    config::ResolveOptions resolve;
    resolve.out_of_tree = scheduler::OutOfTree(options_.engine.extra_plugins);
    resolve.behaviour = behaviour;
    const auto resolved = config::Resolve(config, resolve);
    if (!resolved) return Fail(resolved.error());
    auto sources = config::MetricsSourcesOf(resolved->profiles);
    if (auto checked = CheckMetricsSources(sources); !checked) return Fail(checked.error());
    return sources;
  }
  Result<void> CheckExtendersOf(const config::KubeSchedulerConfiguration& config,
                                const config::Behaviour& behaviour) const {
    if (config.extenders.empty()) return {};
    if (!options_.make_http_client) {  // to leave them out silently would be a wrong decision
      return Fail("extenders: they cannot be called from here");
    }
    auto resolved =
        config::Resolve(config, {.out_of_tree = {}, .read_file = ReadFile, .behaviour = behaviour});
    if (!resolved) return Fail(resolved.error());
    return CheckExtenders(resolved->extenders);
  }

  // Those that `behaviour` asks for, not yet started. On the loop's thread, or before it runs.
  void MakeReflectors(const config::Behaviour& behaviour) {
    const std::lock_guard lock(reflectors_mutex_);
    reflectors_.clear();
    custom_versions_.clear();
    ApiClient& watches = traced_client_ ? *traced_client_ : client_;
    // Known pods are compared without their annotations.
    KnownPods* known = inputs_.pod_annotations.empty() ? &known_pods_ : nullptr;
    ObjectSink& sink = *this;
    const auto watch = [&](const Kind& kind) {
      reflectors_.push_back(std::make_unique<Reflector>(kind, loop_, watches, sink, &raw_,
                                                        behaviour.watch_list, known));
    };
    for (const Kind& kind : WatchedKinds(behaviour)) watch(kind);
    for (const cluster::CustomKind& kind : inputs_.kinds) {
      const std::string& api_version = custom_versions_.emplace_back(kind.ApiVersion());
      watch({.kind = kind.kind,
             .api_version = api_version,
             .plural = kind.plural,
             .namespaced = kind.namespaced,
             .optional = true,
             .custom = true,
             .list_name = *list_names_.insert(cluster::ListNameOf(kind)).first});
    }
    watched_ = behaviour;
  }
  // --- Taking over from another replica, on the loop's thread
  void Succeed(const Succession& succession) {
    if (options_.marks_bindings) runner_.MarkBindings(succession.epoch);
    const net::Nanoseconds wait = succession.silent_from - loop_.Steady();
    if (succession.silent_from.count() > 0 && wait.count() > 0) {
      log::Info(0, "Waiting until nothing of the last leader can be carried out",
                {{"milliseconds", wait / std::chrono::milliseconds(1)}});
      loop_.After(wait, [this, succession] { Succeed(succession); });
    } else if (work_ == nullptr || !work_->Lead(succession, [this] { Decide(); })) {
      if (!succession.follows_another) return Decide();
      log::Info(2, "Listing what the last leader may have written");
      ListNewest(to_list_);
    }
  }
  // After the inputs that are on their way.
  void Decide() {
    Tell(EngineTask([this](scheduler::Engine&) { scheduling_ = true; }));
  }
  // Lists what schedulers write, in its newest version; adds the kinds to `wanted`.
  void ListNewest(std::set<std::string_view>& wanted) {
    for (auto& reflector : reflectors_) {
      if (!SchedulersWrite(reflector->KindName())) continue;
      wanted.insert(reflector->KindName());
      reflector->ListNewest();
    }
  }
  void ShareWork() {
    work_->SetRules(EffectRules(options_.engine.behaviour));
    work_->Attach(
        {.carry_out = [this](auto&& effect) { CarryOut(std::move(effect)); },
         .tell = [this](auto&& result) { TellResult(std::move(result)); },
         .adopt = [this](auto&& pod) { Tell(std::make_unique<api::Object>(std::move(pod))); },
         .list = [this](auto& kinds) { ListNewest(kinds); },
         .events = &events_});
  }

  // What is known is forgotten and listed anew, in its newest version: the next engine does not
  // know what the last one assumed.
  void WatchAnew(const config::Behaviour& behaviour) {
    listed_.clear();
    runner_.SetRules(EffectRules(behaviour));
    if (work_ != nullptr) work_->SetRules(EffectRules(behaviour));
    if (behaviour == watched_) {
      for (auto& reflector : reflectors_) reflector->Stop();
    } else {
      MakeReflectors(behaviour);
    }
    for (auto& reflector : reflectors_) {
      if (SchedulersWrite(reflector->KindName())) reflector->ListNewest();
      reflector->Start();
    }
    const auto follows = [this](std::string_view kind) {
      return std::any_of(reflectors_.begin(), reflectors_.end(),
                         [&](const auto& reflector) { return reflector->KindName() == kind; });
    };
    std::erase_if(to_list_, [&](std::string_view kind) { return !follows(kind); });
    if (work_ != nullptr) work_->Follow(follows);
  }

  // What is watched is decided when the host is made.
  Result<void> CheckInputsOf(const config::KubeSchedulerConfiguration& config,
                             const config::Behaviour& behaviour) const {
    const auto inputs = scheduler::InputsOf(config, behaviour, options_.engine.extra_plugins);
    if (!inputs) return Fail(inputs.error());
    cluster::PluginInputs both = inputs_;
    both.Add(*inputs);
    if (both.kinds.size() == inputs_.kinds.size() &&
        both.pod_annotations.size() == inputs_.pod_annotations.size()) {
      return {};
    }
    return Fail("a plugin reads custom resources or annotations that are not watched; restart");
  }

  // --- On the loop's thread, before the lists that they are shown objects of
  void UseExtenders(const std::vector<config::Extender>& extenders,
                    const config::Behaviour& behaviour) {
    KeptJson kept = JsonFor(extenders);
    kept.without_managed_fields = config::MinorRulesOf(behaviour).drops_managed_fields_of_pods;
    raw_.SetKeptJson(kept);
    extenders_.Use(extenders);
    extender_binds_.clear();
  }

  // --- ObjectSink, on the loop's thread
  void Replaced(std::string_view kind, std::vector<api::Object> objects) override {
    if (work_ != nullptr) work_->Shown(objects);
    capacities_.Replace(kind, objects, scheduler::ListPart::kWhole);
    Tell(ReplacedObjects{kind, std::move(objects)});
    NoteListed(kind);
  }
  void Listed(std::string_view kind, std::vector<api::Object> objects, scheduler::ListPart part,
              Taken taken) override {
    if (work_ != nullptr) work_->Shown(objects);
    capacities_.Replace(kind, objects, part);
    Tell(ReplacedObjects{kind, std::move(objects), part, std::move(taken)});
    if (part == scheduler::ListPart::kLast) NoteListed(kind);
  }
  bool TakesParts(std::string_view) const override { return true; }
  void NoteListed(std::string_view kind) {
    if (work_ != nullptr) work_->Listed(kind);
    if (listed_.insert(kind).second && listed_.size() == reflectors_.size()) {
      loop_.Pauses().FollowBacklog(options_.longest_pause);
      Tell(EngineTask([this](scheduler::Engine&) {
        knows_all_ = true;
        synced_.store(true);
      }));
      poller_.Use(metrics_sources_);  // after the engine's inputs about nodes
    }
    if (to_list_.erase(kind) > 0 && to_list_.empty()) Decide();
  }
  void Changed(api::Object&& object) override {
    if (work_ != nullptr) work_->Shown(object);
    if (const api::Pod* pod = trace_ ? std::get_if<api::Pod>(&object) : nullptr) TraceDecoded(*pod);
    capacities_.Upsert(object);
    Tell(std::make_unique<api::Object>(std::move(object)));
  }
  void StatusChanged(api::Pod&& pod) override {
    if (work_ != nullptr) work_->Shown(std::as_const(pod));
    Tell(StatusOfPod{std::make_unique<api::Pod>(std::move(pod))});
  }
  void Reconnected() override {
    if (options_.reconnected) options_.reconnected();
  }
  void Removed(api::Object&& object) override {
    if (work_ != nullptr) work_->Gone(object);
    capacities_.Delete(object);
    Tell(RemovedObject{std::make_unique<api::Object>(std::move(object))});
  }
  void OnCarriedOut(scheduler::EffectResult&& result) {
    work_ != nullptr ? work_->Answered(std::move(result)) : TellResult(std::move(result));
  }
  void TellResult(scheduler::EffectResult&& result) {
    if (trace_) trace_->Answered(result.id);
    Tell(std::make_unique<scheduler::EffectResult>(std::move(result)));
  }

  // --- For --trace-latency
  void TraceDecoded(const api::Pod& pod) {
    if (!pod.spec.node_name.empty()) return;
    const api::ObjectMeta& meta = pod.metadata;
    trace_->Decoded({.namespace_ = meta.namespace_, .name = meta.name, .uid = meta.uid});
  }
  void TraceTaken(const api::Object& object) {
    if (const auto* pod = std::get_if<api::Pod>(&object)) trace_->Taken(pod->metadata.uid);
  }
  void TraceDecided(const std::vector<scheduler::Effect>& effects) {
    for (const scheduler::Effect& effect : effects) {
      const auto* bind = std::get_if<scheduler::BindPod>(&effect.action);
      if (bind != nullptr) trace_->Decided(bind->pod.uid, effect.id);
    }
  }
  // The client writes what it was handed in a post of its own, which runs before this one.
  void TraceWritten(scheduler::EffectId effect) {
    loop_.Post([this, effect] { trace_->Written(effect); });
  }

  // Whatever the loop finds in one go wakes the engine once.
  template <class T>
  void Tell(T&& input) {
    outbox_.emplace_back(std::forward<T>(input));
    if (outbox_.size() == 1) loop_.Post([this] { mailbox_.PutAll(outbox_); });
  }

  // --- On the engine's thread
  void RunEngine() {
    std::vector<Input> inputs;
    bool busy = false;
    while (mailbox_.Take(&inputs, WaitUntil(busy))) {
      Tapped().AdvanceTo(clock_.Now());
      for (Input& input : inputs) Apply(input);
      inputs.clear();
      if (renew_ && !next_.engine && IsIdle()) MakeSuccessor();
      if (next_.engine) TakeOver();
      busy = scheduling_ && knows_all_ && !next_.engine && RunCycles();
      SendEffects();
    }
    SendEffects();
  }

  // What inputs go through.
  scheduler::TappedEngine Tapped() { return {*engine_, options_.tap}; }

  void UseEngine(NextEngine& next) {
    engine_ = std::move(next.engine);
    in_force_ = next.config;
    behaviour_in_force_ = next.behaviour;
    if (options_.tap == nullptr) return;
    scheduler::EngineOptions options = options_.engine;
    options.behaviour = next.behaviour;
    options_.tap->Began(next.config, options, next.made);
  }

  // Nothing is in flight, and a moment in which no pod is tried delays none.
  bool IsIdle() const {
    return knows_all_ && engine_->AwaitedEffects() == 0 && engine_->BindingPods() == 0 &&
           engine_->AssumedPods() == 0 &&
           (!scheduling_ || engine_->PendingPods(queue::QueueName::kActive) == 0);
  }

  void MakeSuccessor() {
    auto next = MakeEngine(in_force_, behaviour_in_force_);
    if (next) {
      next_ = std::move(*next);
      replace_at_ = Mailbox::Clock::now();
    } else {
      renew_ = false;
      log::Error(next.error().Message(), "No engine could be made, the running one goes on");
    }
  }

  // The next engine takes over, unless the one at work still waits for something.
  void TakeOver() {
    const bool quiet = engine_->AwaitedEffects() == 0 && engine_->BindingPods() == 0;
    if (!quiet && Mailbox::Clock::now() < replace_at_) return;
    SendEffects();
    renew_ = false;
    if (options_.observer != nullptr) options_.observer->Replaced(*engine_, *next_.engine);
    UseEngine(next_);
    NameOthers();
    ++generation_;
    knows_all_ = false;
    loop_.Post([this, extenders = engine_->Extenders(), ours = ProfileNames(),
                behaviour = std::move(next_.behaviour),
                sources = std::move(next_.metrics_sources)]() mutable {
      metrics_sources_ = std::move(sources);
      UseExtenders(extenders, behaviour);
      known_pods_.Serve(ours);
      WatchAnew(behaviour);
    });
  }

  std::set<std::string, std::less<>> ProfileNames() const {
    std::set<std::string, std::less<>> names;
    for (size_t i = 0; i < engine_->ProfileCount(); ++i) {
      names.emplace(engine_->CycleOf(i).profile().Name());
    }
    return names;
  }

  // Pods of profiles that the engine does not have are others'.
  void NameOthers() { others_.Serve(ProfileNames()); }

  std::optional<Mailbox::Clock::time_point> WaitUntil(bool busy) const {
    if (busy) return Mailbox::Clock::time_point::min();
    const std::optional<api::Time> wake = engine_->NextWake();
    if (next_.engine) return wake ? std::min(clock_.When(*wake), replace_at_) : replace_at_;
    if (!wake) return std::nullopt;
    return clock_.When(*wake);
  }

  // False: no pod is left that could be tried now.
  bool RunCycles() {
    auto now = Mailbox::Clock::now();
    const auto until = now + kTurn;
    do {
      if (options_.fence != nullptr && options_.fence->Passed(now.time_since_epoch())) return false;
      for (int i = 0; i < kCyclesPerLook; ++i) {
        held_back_ = engine_->AwaitedRequests() >= kMaxAwaited;
        if (held_back_ || !Tapped().Step()) return false;  // results and events wake us
      }
      now = Mailbox::Clock::now();
    } while (now < until);
    return true;
  }

  void Apply(Input& input) {
    std::visit(
        [this]<class T>(T& value) {
          if constexpr (std::is_same_v<T, ReplacedObjects>) {
            others_.Replace(value.kind, value.objects, value.part);
            Tapped().Replace(value.kind, std::move(value.objects), value.part);
            if (value.taken) loop_.Post(std::move(value.taken));
          } else if constexpr (std::is_same_v<T, std::unique_ptr<api::Object>>) {
            if (trace_) TraceTaken(*value);
            others_.Upsert(*value);
            Tapped().Upsert(std::move(*value));
          } else if constexpr (std::is_same_v<T, StatusOfPod>) {
            Tapped().UpdateStatus(std::move(*value.pod));
          } else if constexpr (std::is_same_v<T, RemovedObject>) {
            others_.Delete(*value.object);
            Tapped().Delete(*value.object);
          } else if constexpr (std::is_same_v<T, std::unique_ptr<scheduler::EffectResult>>) {
            if ((value->id >> kGenerationShift) != generation_) return;  // an earlier engine's
            value->id &= (uint64_t{1} << kGenerationShift) - 1;
            Tapped().Complete(std::move(*value));
          } else if constexpr (std::is_same_v<T, LoadOfNodes>) {
            for (auto& [node, metrics] : value.nodes) {
              Tapped().UpdateNodeMetrics(node, std::move(metrics));
            }
          } else {
            value(*engine_);
          }
        },
        input);
  }

  void SendEffects() {
    auto effects = Tapped().TakeEffects();
    SetPauses({.hurried = engine_->WaitsForAnswer(), .held_back = held_back_});
    if (effects.empty()) return;
    for (scheduler::Effect& effect : effects) effect.id |= generation_ << kGenerationShift;
    if (trace_) TraceDecided(effects);
    loop_.Post(
        [this, effects = std::make_shared<std::vector<scheduler::Effect>>(std::move(effects))] {
          for (scheduler::Effect& effect : *effects) {
            const scheduler::EffectId id = effect.id;
            IsShared(effect) ? work_->Run(std::move(effect)) : CarryOut(std::move(effect));
            if (trace_) TraceWritten(id);
          }
        });
  }

  // The engine waits for what extenders say: their calls do not stand in line behind writes.
  bool IsShared(const scheduler::Effect& effect) const {
    const auto* call = std::get_if<scheduler::CallExtender>(&effect.action);
    return work_ && (!call || call->verb == scheduler::CallExtender::Verb::kBind);
  }
  void CarryOut(scheduler::Effect&& effect) {
    const auto* call = std::get_if<scheduler::CallExtender>(&effect.action);
    call != nullptr ? CallExtender(effect.id, *call) : runner_.Run(std::move(effect));
  }

  // Extenders that bind write in our place.
  void CallExtender(scheduler::EffectId id, const scheduler::CallExtender& call) {
    if (call.verb == scheduler::CallExtender::Verb::kBind) {
      if (options_.fence != nullptr && options_.fence->Passed(loop_.Steady())) {
        return OnCarriedOut({.id = id,
                             .code = scheduler::EffectResult::Code::kError,
                             .message = "not sent: the leader's lease has ended"});
      }
      extender_binds_.insert(id);
    }
    extenders_.Call(id, call);
  }

  // Tells the loop what its pauses depend on.
  void SetPauses(Pacing pacing) {
    if (std::exchange(pacing_, pacing) == pacing) return;
    loop_.Post([this, pacing] {
      loop_.Pauses().SetHurried(pacing.hurried);
      loop_.Pauses().SetHeldBack(pacing.held_back);
    });
  }

  net::Loop& loop_;
  ApiClient& client_;
  const SchedulerHostOptions options_;
  WorkSharing* const work_ = options_.work;  // null: no work is shared
  const cluster::PluginInputs inputs_;
  const EngineClock clock_;
  const std::unique_ptr<LatencyTrace> trace_;       // null: nothing is traced
  const std::unique_ptr<ApiClient> traced_client_;  // null: as above
  Mailbox mailbox_;

  // The loop's.
  RawObjects raw_;
  KnownPods known_pods_;
  EventRecorder events_;
  EffectRunner runner_;
  ExtenderCaller extenders_;
  NodeCapacities capacities_;
  std::vector<config::MetricsSource> metrics_sources_;  // of the engine that watches are for
  LoadPoller poller_;
  std::set<scheduler::EffectId> extender_binds_;  // under way
  mutable std::mutex reflectors_mutex_;      // of the next: Followed() reads them on other threads
  std::deque<std::string> custom_versions_;  // of custom resources; reflectors refer to them
  std::set<std::string> list_names_;         // of the same; lists on their way refer to them
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  config::Behaviour watched_;          // what they were made from
  std::set<std::string_view> listed_;  // kinds
  // Kinds to be listed before pods are scheduled; of kind_table.h, so they outlive reflectors.
  std::set<std::string_view> to_list_;
  std::vector<Input> outbox_;  // for the mailbox

  // The engine's.
  std::unique_ptr<scheduler::Engine> engine_;
  OtherPods others_;
  uint64_t generation_ = 0;  // of the engine: the high bits of its effects' ids
  bool knows_all_ = false;   // it has the lists of all kinds
  bool scheduling_ = false;
  bool held_back_ = false;                       // no cycles until requests are answered
  Pacing pacing_;                                // as the loop knows it
  NextEngine next_;                              // to take over; without an engine: none
  bool renew_ = false;                           // an engine like this one is to take over
  config::KubeSchedulerConfiguration in_force_;  // of the engine at work
  config::Behaviour behaviour_in_force_;
  Mailbox::Clock::time_point replace_at_;
  std::thread thread_;

  std::atomic<bool> synced_ = false;
};

}  // namespace

Result<std::unique_ptr<SchedulerHost>> SchedulerHost::Make(net::Loop& loop, ApiClient& client,
                                                           SchedulerHostOptions options) {
  auto inputs =
      scheduler::InputsOf(options.config, options.engine.behaviour, options.engine.extra_plugins);
  if (!inputs) return Fail(inputs.error());
  auto host = std::make_unique<Host>(loop, client, std::move(options), std::move(*inputs));
  if (auto made = host->Init(); !made) return Fail(made.error());
  return host;
}

}  // namespace berth::kube

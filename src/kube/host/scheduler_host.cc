// SchedulerHost: see scheduler_host.h.
#include "kube/host/scheduler_host.h"

#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "kube/auth/read_file.h"
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
            [this](scheduler::EffectResult result) { TellResult(std::move(result)); },
            EffectRules(options_.engine.behaviour)),
        extenders_(loop, raw_, options_.make_http_client,
                   [this](scheduler::EffectResult result) { TellResult(std::move(result)); }) {
    MakeReflectors(options_.engine.behaviour);
  }
  ~Host() override { Stop(); }

  Result<void> Init() {
    auto made = MakeEngine(options_.config, options_.engine.behaviour);
    if (!made) return Fail(made.error());
    engine_ = std::move(made->engine);
    NameOthers();
    return {};
  }

  Result<NextEngine> MakeEngine(const config::KubeSchedulerConfiguration& config,
                                const config::Behaviour& behaviour) const override {
    if (auto checked = CheckExtendersOf(config, behaviour); !checked) return Fail(checked.error());
    if (auto checked = CheckInputsOf(config, behaviour); !checked) return Fail(checked.error());
    scheduler::EngineOptions options = options_.engine;
    options.behaviour = behaviour;
    auto engine = scheduler::Engine::Make(config, options, clock_.Now(), options_.executor,
                                          options_.observer);
    if (!engine) return Fail(engine.error());
    return NextEngine{std::move(*engine), behaviour};
  }

  void Replace(NextEngine next, net::Nanoseconds patience) override {
    auto shared = std::make_shared<NextEngine>(std::move(next));
    Do([this, shared, until = Mailbox::Clock::now() + patience](scheduler::Engine&) {
      next_ = std::move(*shared);
      replace_at_ = until;
    });
  }

  void Start() override {
    loop_.Post([this, extenders = engine_->Extenders(), ours = ProfileNames()] {
      UseExtenders(extenders);
      known_pods_.Serve(ours);
      events_.Start();
      for (auto& reflector : reflectors_) reflector->Start();
    });
    thread_ = std::thread([this] { RunEngine(); });
  }

  void StartScheduling() override {
    Do([this](scheduler::Engine&) { scheduling_ = true; });
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
             .custom = true});
    }
    watched_ = behaviour;
  }
  // What is known is forgotten and listed anew.
  void WatchAnew(const config::Behaviour& behaviour) {
    listed_.clear();
    runner_.SetRules(EffectRules(behaviour));
    if (behaviour == watched_) {
      for (auto& reflector : reflectors_) reflector->Stop();
    } else {
      MakeReflectors(behaviour);
    }
    for (auto& reflector : reflectors_) reflector->Start();
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
  void UseExtenders(const std::vector<config::Extender>& extenders) {
    raw_.SetKeptJson(JsonFor(extenders));
    extenders_.Use(extenders);
  }

  // --- ObjectSink, on the loop's thread
  void Replaced(std::string_view kind, std::vector<api::Object> objects) override {
    Tell(ReplacedObjects{kind, std::move(objects)});
    NoteListed(kind);
  }
  void Listed(std::string_view kind, std::vector<api::Object> objects, scheduler::ListPart part,
              Taken taken) override {
    Tell(ReplacedObjects{kind, std::move(objects), part, std::move(taken)});
    if (part == scheduler::ListPart::kLast) NoteListed(kind);
  }
  bool TakesParts(std::string_view) const override { return true; }
  void NoteListed(std::string_view kind) {
    if (listed_.insert(kind).second && listed_.size() == reflectors_.size()) {
      loop_.Pauses().FollowBacklog(options_.longest_pause);
      Tell(EngineTask([this](scheduler::Engine&) {
        knows_all_ = true;
        synced_.store(true);
      }));
    }
  }
  void Changed(api::Object&& object) override {
    if (const api::Pod* pod = trace_ ? std::get_if<api::Pod>(&object) : nullptr) TraceDecoded(*pod);
    Tell(std::make_unique<api::Object>(std::move(object)));
  }
  void StatusChanged(api::Pod&& pod) override {
    Tell(StatusOfPod{std::make_unique<api::Pod>(std::move(pod))});
  }
  void Reconnected() override {
    if (options_.reconnected) options_.reconnected();
  }
  void Removed(api::Object&& object) override {
    Tell(RemovedObject{std::make_unique<api::Object>(std::move(object))});
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
      engine_->AdvanceTo(clock_.Now());
      for (Input& input : inputs) Apply(input);
      inputs.clear();
      if (next_.engine) TakeOver();
      busy = scheduling_ && knows_all_ && !next_.engine && RunCycles();
      SendEffects();
    }
    SendEffects();
  }

  // The next engine takes over, unless the one at work still waits for something.
  void TakeOver() {
    const bool quiet = engine_->AwaitedEffects() == 0 && engine_->BindingPods() == 0;
    if (!quiet && Mailbox::Clock::now() < replace_at_) return;
    SendEffects();
    if (options_.observer != nullptr) options_.observer->Replaced(*engine_, *next_.engine);
    engine_ = std::move(next_.engine);
    NameOthers();
    ++generation_;
    knows_all_ = false;
    loop_.Post([this, extenders = engine_->Extenders(), ours = ProfileNames(),
                behaviour = std::move(next_.behaviour)] {
      UseExtenders(extenders);
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
        if (held_back_ || !engine_->Step()) return false;  // results and events wake us
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
            engine_->Replace(value.kind, std::move(value.objects), value.part);
            if (value.taken) loop_.Post(std::move(value.taken));
          } else if constexpr (std::is_same_v<T, std::unique_ptr<api::Object>>) {
            if (trace_) TraceTaken(*value);
            others_.Upsert(*value);
            engine_->Upsert(std::move(*value));
          } else if constexpr (std::is_same_v<T, StatusOfPod>) {
            engine_->UpdateStatus(std::move(*value.pod));
          } else if constexpr (std::is_same_v<T, RemovedObject>) {
            others_.Delete(*value.object);
            engine_->Delete(*value.object);
          } else if constexpr (std::is_same_v<T, std::unique_ptr<scheduler::EffectResult>>) {
            if ((value->id >> kGenerationShift) != generation_) return;  // an earlier engine's
            value->id &= (uint64_t{1} << kGenerationShift) - 1;
            engine_->Complete(std::move(*value));
          } else {
            value(*engine_);
          }
        },
        input);
  }

  void SendEffects() {
    auto effects = engine_->TakeEffects();
    SetPauses({.hurried = engine_->WaitsForAnswer(), .held_back = held_back_});
    if (effects.empty()) return;
    for (scheduler::Effect& effect : effects) effect.id |= generation_ << kGenerationShift;
    if (trace_) TraceDecided(effects);
    loop_.Post(
        [this, effects = std::make_shared<std::vector<scheduler::Effect>>(std::move(effects))] {
          for (scheduler::Effect& effect : *effects) {
            const auto* call = std::get_if<scheduler::CallExtender>(&effect.action);
            const scheduler::EffectId id = effect.id;
            call != nullptr ? extenders_.Call(id, *call) : runner_.Run(std::move(effect));
            if (trace_) TraceWritten(id);
          }
        });
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
  mutable std::mutex reflectors_mutex_;      // of the next: Followed() reads them on other threads
  std::deque<std::string> custom_versions_;  // of custom resources; reflectors refer to them
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  config::Behaviour watched_;          // what they were made from
  std::set<std::string_view> listed_;  // kinds
  std::vector<Input> outbox_;          // for the mailbox

  // The engine's.
  std::unique_ptr<scheduler::Engine> engine_;
  OtherPods others_;
  uint64_t generation_ = 0;  // of the engine: the high bits of its effects' ids
  bool knows_all_ = false;   // it has the lists of all kinds
  bool scheduling_ = false;
  bool held_back_ = false;  // no cycles until requests are answered
  Pacing pacing_;           // as the loop knows it
  NextEngine next_;         // to take over; without an engine: none
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

#include "record/player.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "config/config.h"

namespace berth::record {
namespace {

using scheduler::Effect;

std::string NameOf(const scheduler::PodRef& pod) { return pod.namespace_ + "/" + pod.name; }

std::string_view VerbOf(const scheduler::CallExtender& call) {
  switch (call.verb) {
    case scheduler::CallExtender::Verb::kFilter:
      return "filter";
    case scheduler::CallExtender::Verb::kPrioritize:
      return "prioritize";
    case scheduler::CallExtender::Verb::kPreempt:
      return "preempt";
    case scheduler::CallExtender::Verb::kBind:
      return "bind";
  }
  return "";
}

Result<config::FeatureGates> GatesOf(const Begin& begin) {
  const auto known = [](int64_t minor) {
    return minor >= 0 && minor <= config::NewestKubernetes();
  };
  if (begin.minor < config::OldestKubernetes() || !known(begin.minor) || !known(begin.emulated) ||
      !known(begin.min_compatibility)) {
    return Fail(fmt::format("recorded as Kubernetes 1.{}; this berth knows 1.{} to 1.{}",
                            begin.minor, config::OldestKubernetes(), config::NewestKubernetes()));
  }
  config::FeatureGates gates(static_cast<int>(begin.minor), static_cast<int>(begin.emulated),
                             static_cast<int>(begin.min_compatibility));
  if (auto set = gates.Set(begin.gates); !set) return Fail(set.error().In("recorded gates"));
  return gates;
}

}  // namespace

class Player::Impl {
 public:
  Impl(RunReader& reader, PlayOptions options)
      : reader_(reader),
        options_(std::move(options)),
        observer_(options_.observer == nullptr ? silent_ : *options_.observer) {}

  std::optional<Moment> Peek() {
    if (next_ == nullptr && !over_) {
      auto record = reader_.Next();
      if (!record) outcome_.trouble = record.error().Message();
      next_ = record ? *record : nullptr;
      over_ = next_ == nullptr;
    }
    if (next_ == nullptr) return std::nullopt;
    return Moment{reader_.Sequence(), TimeOf(*next_)};
  }
  bool Next() {
    if (!Peek()) return false;
    const Record& record = *std::exchange(next_, nullptr);
    over_ = !Take(record);
    return !over_;
  }
  scheduler::Engine* GetEngine() { return engine_.get(); }
  const PlayOutcome& Outcome() const { return outcome_; }

  PlayOutcome Run() {
    while (Next()) {
    }
    observer_.Ended(engine_.get());
    outcome_.stopped = {reader_.Sequence(), outcome_.last_time_ns};
    return std::move(outcome_);
  }

 private:
  // False: no further.
  bool Take(const Record& record) {
    const int64_t time = TimeOf(record);
    if (options_.until_ns && time > *options_.until_ns) {
      outcome_.reached_until = true;
      return false;
    }
    if (!observer_.Playing({reader_.Sequence(), time}, record, engine_.get())) {
      outcome_.interrupted = true;
      return false;
    }
    if (outcome_.records++ == 0) outcome_.first_time_ns = time;
    outcome_.last_time_ns = time;
    if (outcome_.closed) return Trouble("a record after the end of the recording");
    if (engine_ == nullptr && !std::holds_alternative<Begin>(record) &&
        !std::holds_alternative<End>(record)) {
      return Trouble("an input before an engine was made");
    }
    const bool on = std::visit([this](const auto& value) { return Do(value); }, record);
    if (outcome_.observed && engine_ != nullptr) engine_->TakeEffects();  // nobody carries them out
    return on;
  }

  int64_t TimeOf(const Record& record) const {
    if (const auto* begin = std::get_if<Begin>(&record)) return begin->time_ns;
    const auto* advance = std::get_if<Advance>(&record);
    return advance == nullptr ? outcome_.last_time_ns
                              : std::max(advance->time_ns, outcome_.last_time_ns);
  }

  bool Trouble(std::string what) {
    outcome_.trouble =
        fmt::format("run {}, record {}: {}", reader_.Run(), reader_.Sequence(), what);
    return false;
  }
  bool Differs(std::string what) {
    outcome_.divergence = std::move(what);
    return false;
  }

  bool Do(const Begin& begin) {
    auto engine = MakeEngine(begin, options_.extra_plugins);
    if (!engine) return Trouble(engine.error().Message());
    engine_ = std::move(*engine);
    ++outcome_.engines;
    digest_.notes = !begin.redacted;
    outcome_.redacted = begin.redacted;
    outcome_.observed = begin.observed;
    return true;
  }
  bool Do(const Advance& advance) {
    engine_->AdvanceTo(api::Time::FromUnixNano(advance.time_ns));
    return true;
  }
  bool Do(const Upsert& upsert) {
    engine_->Upsert(upsert.object);
    return true;
  }
  bool Do(const UpdateStatus& status) {
    engine_->UpdateStatus(status.pod);
    return true;
  }
  bool Do(const Delete& gone) {
    engine_->Delete(gone.object);
    return true;
  }
  bool Do(const Replace& replace) {
    engine_->Replace(replace.kind, replace.objects, replace.part);
    return true;
  }
  bool Do(const Complete& complete) {
    engine_->Complete(complete.result);
    return true;
  }
  bool Do(const Step& step) {
    if (outcome_.observed) return Trouble("a scheduling cycle in a recording without scheduling");
    const bool tried = engine_->Step();
    outcome_.steps += tried ? 1 : 0;
    if (tried == step.tried) return true;
    return Differs(tried ? "a pod was tried where the recording has none"
                         : "no pod was tried where the recording has one");
  }
  bool Do(const Taken& taken) {
    if (outcome_.observed) return Trouble("decisions in a recording without scheduling");
    const std::vector<Effect> effects = engine_->TakeEffects();
    for (size_t i = 0; i < std::min(effects.size(), taken.digests.size()); ++i) {
      if (DigestOf(effects[i], digest_) != taken.digests[i]) {
        return Differs("decided otherwise than recorded: " + Describe(effects[i]));
      }
      ++outcome_.decisions;
      if (std::holds_alternative<scheduler::BindPod>(effects[i].action)) ++outcome_.bindings;
      observer_.Decided({reader_.Sequence(), outcome_.last_time_ns}, effects[i]);
    }
    if (effects.size() > taken.digests.size()) {
      return Differs("decided more than recorded: " + Describe(effects[taken.digests.size()]));
    }
    if (effects.size() < taken.digests.size()) {
      return Differs(fmt::format("decided less than recorded: {} of {} effects", effects.size(),
                                 taken.digests.size()));
    }
    return true;
  }
  bool Do(const Metrics& load) {
    engine_->UpdateNodeMetrics(load.node, load.metrics);
    return true;
  }
  bool Do(const End&) {
    outcome_.closed = true;
    return true;
  }
  bool Do(const Synced&) {
    if (outcome_.observed) return true;
    return Trouble("the mark of a recording without scheduling in one with");
  }

  RunReader& reader_;
  const PlayOptions options_;
  const Record* next_ = nullptr;  // read, and not played yet
  bool over_ = false;
  PlayObserver silent_;
  PlayObserver& observer_;
  std::unique_ptr<scheduler::Engine> engine_;
  PlayOutcome outcome_;
  DigestOptions digest_;
};

Player::Player(RunReader& reader, PlayOptions options)
    : impl_(std::make_unique<Impl>(reader, std::move(options))) {}
Player::~Player() = default;
std::optional<Moment> Player::Peek() { return impl_->Peek(); }
bool Player::Next() { return impl_->Next(); }
scheduler::Engine* Player::GetEngine() { return impl_->GetEngine(); }
const PlayOutcome& Player::Outcome() const { return impl_->Outcome(); }

Result<scheduler::EngineOptions> EngineOptionsOf(
    const Begin& begin, const std::vector<scheduler::ExtraPlugin>& extra_plugins) {
  auto gates = GatesOf(begin);
  if (!gates) return Fail(gates.error());
  scheduler::EngineOptions options;
  options.behaviour = config::Behaviour(*gates);
  options.algorithm.seed = begin.seed;
  options.algorithm.adaptive_sampling = begin.adaptive_sampling;
  options.algorithm.classes = begin.classes;
  options.call_extenders = begin.call_extenders;
  options.max_in_unschedulable_ns = begin.max_in_unschedulable_ns;
  options.assumed_ttl_ns = begin.assumed_ttl_ns;
  if (begin.planted_bug > static_cast<uint64_t>(scheduler::PlantedBug::kSplitGang)) {
    return Fail("recorded with an unknown planted bug");
  }
  options.planted_bug = static_cast<scheduler::PlantedBug>(begin.planted_bug);
  for (const std::string& name : begin.extra_plugins) {
    const auto plugin = std::find_if(extra_plugins.begin(), extra_plugins.end(),
                                     [&](const auto& extra) { return extra.row.name == name; });
    if (plugin == extra_plugins.end()) {
      return Fail(
          fmt::format("recorded with the out-of-tree plugin {}, which is not loaded here", name));
    }
    options.extra_plugins.push_back(*plugin);
  }
  return options;
}

Result<std::unique_ptr<scheduler::Engine>> MakeEngine(
    const Begin& begin, const std::vector<scheduler::ExtraPlugin>& extra_plugins) {
  const auto options = EngineOptionsOf(begin, extra_plugins);
  if (!options) return Fail(options.error());
  auto config = config::Load(begin.config, options->behaviour);
  if (!config) return Fail(config.error().In("recorded configuration"));
  return scheduler::Engine::Make(*config, *options, api::Time::FromUnixNano(begin.time_ns));
}

PlayOutcome Play(RunReader& reader, const PlayOptions& options) {
  return Player::Impl(reader, options).Run();
}

std::string Describe(const Effect& effect) {
  return std::visit(
      []<class T>(const T& action) -> std::string {
        if constexpr (std::is_same_v<T, scheduler::BindPod>) {
          return fmt::format("bind {} to {}", NameOf(action.pod), action.node);
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodStatus>) {
          std::string text = "status of " + NameOf(action.pod);
          if (action.condition) {
            text += fmt::format(": {}={} {}: {}", action.condition->type, action.condition->status,
                                action.condition->reason, action.condition->message);
          }
          if (action.nominated_node_name) {
            text += action.nominated_node_name->empty()
                        ? std::string("; no longer nominated")
                        : fmt::format("; nominated for {}", *action.nominated_node_name);
          }
          return text;
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodGroupStatus>) {
          return fmt::format("status of group {}: {}={} {}: {}", NameOf(action.group),
                             action.condition.type, action.condition.status,
                             action.condition.reason, action.condition.message);
        } else if constexpr (std::is_same_v<T, scheduler::DeletePod>) {
          return "preempt " + NameOf(action.pod);
        } else if constexpr (std::is_same_v<T, scheduler::ReadPod>) {
          return "read " + NameOf(action.pod);
        } else if constexpr (std::is_same_v<T, scheduler::WriteObject>) {
          return std::visit(
              []<class O>(const O& object) {
                return fmt::format("write {} {}{}{}", O::kKind, object.metadata.namespace_,
                                   object.metadata.namespace_.empty() ? "" : "/",
                                   object.metadata.name);
              },
              action.write.object);
        } else if constexpr (std::is_same_v<T, scheduler::RecordEvent>) {
          return fmt::format("event {} of {}: {}", action.reason, NameOf(action.regarding),
                             action.note);
        } else {
          return fmt::format("ask extender {} to {} {}", action.extender, VerbOf(action),
                             NameOf(action.pod));
        }
      },
      effect.action);
}

}  // namespace berth::record

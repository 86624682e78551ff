#include "sim/host/engine_host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/inputs.h"
#include "cluster/objects/kind_table.h"
#include "sim/host/carry_out.h"

namespace berth::sim {
namespace {

using scheduler::Effect;

// What a watch that leaves out finished pods makes of a change: they look deleted. False: nothing.
bool SeenByWatch(ApiChange& change) {
  const auto* pod = std::get_if<api::Pod>(change.object.get());
  if (pod == nullptr) return true;
  const bool was_visible =
      change.old_object != nullptr && !IsFinished(std::get<api::Pod>(*change.old_object));
  if (change.type == ApiChange::Type::kDeleted) return was_visible;
  if (!IsFinished(*pod)) return true;
  change.type = ApiChange::Type::kDeleted;
  return was_visible;
}

}  // namespace

EngineHost::EngineHost(EventLoop& loop, ModelApi& api, Network& network,
                       const config::KubeSchedulerConfiguration& config,
                       const scheduler::EngineOptions& options, HostObserver* observer,
                       scheduler::EngineTap* tap)
    : loop_(loop),
      api_(api),
      network_(network),
      config_(config),
      options_(options),
      observer_(observer == nullptr ? &silent_ : observer),
      tap_(tap) {
  for (const cluster::KindInfo& kind : cluster::WatchedKinds(options.behaviour)) {
    kinds_.push_back(kind.kind);
  }
  // A configuration that is wrong fails at the start.
  if (const auto inputs = scheduler::InputsOf(config, options.behaviour, options.extra_plugins)) {
    custom_ = inputs->kinds;
  }
  for (const cluster::CustomKind& custom : custom_) {
    if (std::ranges::find(kinds_, custom.kind) == kinds_.end()) kinds_.push_back(custom.kind);
  }
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

Result<void> EngineHost::Start() {
  scheduler::EngineOptions options = options_;
  options.call_extenders = false;  // there is nobody to call
  auto made = scheduler::Engine::Make(config_, options, loop_.Time(), nullptr, observer_);
  if (!made) return Fail(made.error());
  engine_ = std::move(*made);
  if (tap_ != nullptr) tap_->Began(config_, options, loop_.Time());
  ++incarnation_;
  std::vector<std::string_view> kinds = kinds_;
  network_.OrderLists(kinds);
  for (const std::string_view kind : kinds) {
    watches_[kind] = Watch{};
    List(kind, api_.List(kind));
  }
  observer_->Started(*engine_);
  AfterInput();
  return {};
}

void EngineHost::Crash() {
  if (engine_ == nullptr) return;
  ++incarnation_;
  engine_.reset();
  turn_pending_ = false;
  if (wake_) loop_.Cancel(*wake_);
  wake_.reset();
  watches_.clear();
  seen_.clear();
  const auto requests = std::move(requests_);
  requests_.clear();
  for (const auto& [id, request] : requests) {
    const bool may_arrive = !request.dealt_with && (request.fate.kind == Fate::Kind::kAnswered ||
                                                    request.fate.kind == Fate::Kind::kAnswerLost);
    if (may_arrive && network_.ArrivesDespiteCrash(request.effect)) {
      observer_->CarriedOut(request.effect, CarryOut(api_, request.effect));
    }
  }
  observer_->Crashed();
}

bool EngineHost::Quiet() const {
  if (engine_ == nullptr || turn_pending_ || !requests_.empty()) return false;
  return std::all_of(watches_.begin(), watches_.end(), [](const auto& entry) {
    return entry.second.under_way == 0 && !entry.second.broken;
  });
}

void EngineHost::Later(Nanos delay, std::function<void()> action) {
  loop_.After(delay, [this, incarnation = incarnation_, action = std::move(action)] {
    if (incarnation == incarnation_) action();
  });
}

// --- Watches

void EngineHost::OnChange(ApiChange change) {
  // The API's view of the name goes with its object.
  const auto watched = std::find(kinds_.begin(), kinds_.end(), change.kind);
  if (engine_ == nullptr || watched == kinds_.end() || !SeenByWatch(change)) return;
  change.kind = *watched;
  Watch& watch = watches_[change.kind];
  if (watch.broken) return;  // the list will show it
  if (const auto gap = network_.WatchBreaks(change.kind)) {
    BreakWatch(change.kind, *gap);
    return;
  }
  const std::string_view kind = change.kind;
  Arrive(kind, [this, change = std::move(change)] {
    Deliver(change);
    if (network_.RepeatsEvent(change.kind)) Deliver(change);
  });
}

void EngineHost::Arrive(std::string_view kind, std::function<void()> deliver) {
  Watch& watch = watches_[kind];
  watch.last_arrival = std::max(watch.last_arrival, loop_.Now() + network_.WatchDelay(kind));
  ++watch.under_way;
  Later(watch.last_arrival - loop_.Now(),
        [this, kind, epoch = watch.epoch, deliver = std::move(deliver)] {
          Watch& now = watches_[kind];
          if (now.epoch != epoch) return;
          --now.under_way;
          deliver();
        });
}

void EngineHost::Deliver(const ApiChange& change) {
  Tapped().AdvanceTo(loop_.Time());
  const std::string key = ModelApi::KeyOf(*change.object);
  if (change.type == ApiChange::Type::kDeleted) {
    seen_[change.kind].erase(key);
    Tapped().Delete(*change.object);
  } else {
    seen_[change.kind][key] = change.object;
    Tapped().Upsert(*change.object);
  }
  observer_->Delivered(change);
  AfterInput();
}

void EngineHost::List(std::string_view kind, std::vector<ObjectPtr> objects) {
  Tapped().AdvanceTo(loop_.Time());
  auto& seen = seen_[kind];
  seen.clear();
  std::vector<api::Object> list;
  list.reserve(objects.size());
  for (ObjectPtr& object : objects) {
    const auto* pod = std::get_if<api::Pod>(object.get());
    if (pod != nullptr && IsFinished(*pod)) continue;
    list.push_back(*object);
    seen.emplace(ModelApi::KeyOf(*object), std::move(object));
  }
  const size_t count = list.size();
  for (const std::string& name : ListNamesOf(kind)) Tapped().Replace(name, list);
  observer_->Listed(kind, count);
}

std::vector<std::string> EngineHost::ListNamesOf(std::string_view kind) const {
  std::vector<std::string> names;
  for (const cluster::CustomKind& custom : custom_) {
    if (custom.kind == kind) names.push_back(cluster::ListNameOf(custom));
  }
  const auto watched = cluster::WatchedKinds(options_.behaviour);
  const bool typed = std::ranges::any_of(
      watched, [&](const cluster::KindInfo& info) { return info.kind == kind; });
  if (typed) names.emplace_back(kind);
  return names;
}

void EngineHost::BreakWatch(std::string_view kind, Nanos gap) {
  Watch& watch = watches_[kind];
  watch.broken = true;
  ++watch.epoch;
  watch.under_way = 0;
  Later(gap, [this, kind] {
    watches_[kind].broken = false;
    Arrive(kind, [this, kind, objects = api_.List(kind)] {
      List(kind, objects);
      AfterInput();
    });
  });
}

// --- Turns

void EngineHost::AfterInput() {
  for (Effect& effect : Tapped().TakeEffects()) Send(std::move(effect));
  if (turn_pending_) return;
  turn_pending_ = true;
  Later(network_.CycleTime(), [this] { Turn(); });
}

void EngineHost::Turn() {
  turn_pending_ = false;
  Tapped().AdvanceTo(loop_.Time());
  observer_->BeforeStep(*engine_);
  const bool tried = Tapped().Step();
  observer_->AfterStep(*engine_, tried);
  if (tried) {
    AfterInput();
    return;
  }
  for (Effect& effect : Tapped().TakeEffects()) Send(std::move(effect));
  ArmWake();
}

void EngineHost::ArmWake() {
  if (wake_) loop_.Cancel(*wake_);
  wake_.reset();
  const auto next = engine_->NextWake();
  if (!next) return;
  // A wake that is due already cannot have been helped by AdvanceTo: time must pass.
  const Nanos at = std::max(loop_.NanosOf(*next), loop_.Now() + kMillisecond);
  wake_ = loop_.At(at, [this] {
    wake_.reset();
    Tapped().AdvanceTo(loop_.Time());
    AfterInput();
  });
}

// --- Requests

void EngineHost::Send(Effect effect) {
  observer_->Asked(effect);
  if (std::holds_alternative<scheduler::RecordEvent>(effect.action)) return;
  const scheduler::EffectId id = effect.id;
  const Fate fate = network_.FateOf(effect);
  requests_.insert_or_assign(id, Request{std::move(effect), fate, false, {}});
  Later(fate.request_delay, [this, id] { DealWith(requests_.at(id)); });
}

void EngineHost::DealWith(Request& request) {
  const Fate& fate = request.fate;
  request.dealt_with = true;
  request.result = Unanswered(request.effect);
  if (fate.kind == Fate::Kind::kAnswered || fate.kind == Fate::Kind::kAnswerLost) {
    const ApiAnswer answer = CarryOut(api_, request.effect);
    observer_->CarriedOut(request.effect, answer);
    if (fate.kind == Fate::Kind::kAnswered) request.result = ResultOf(request.effect, answer);
  } else if (fate.kind == Fate::Kind::kRefused) {
    request.result = ResultOf(
        request.effect,
        {.code = fate.code, .message = fmt::format("the server refused with {}", fate.code)});
  }
  const scheduler::EffectId id = request.effect.id;
  Later(fate.answer_delay, [this, id, again = fate.again] {
    Answer(id, !again);
    if (again) Later(*again, [this, id] { Answer(id, true); });
  });
}

void EngineHost::Answer(scheduler::EffectId id, bool last) {
  const auto it = requests_.find(id);
  const Request request = it->second;
  if (last) requests_.erase(it);
  Tapped().AdvanceTo(loop_.Time());
  observer_->Answered(request.effect, request.result);
  Tapped().Complete(request.result);
  AfterInput();
}

}  // namespace berth::sim

#include "replicas/replica.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cluster/objects/kind_table.h"
#include "kube/election/release.h"
#include "kube/kinds.h"
#include "sim/chaos/trace.h"
#include "sim/host/carry_out.h"

namespace berth::replicas {
namespace {

using scheduler::Effect;
using scheduler::EffectResult;
using sim::kMillisecond;
using sim::kSecond;
using sim::Nanos;

// Of a request whose answer is lost, until it is given up.
constexpr net::Nanoseconds kPatience = std::chrono::seconds(4);
constexpr net::Nanoseconds kListPause = std::chrono::seconds(1);
// How old what a server's cache answers may be; for a planted bug and the lists of a standby.
constexpr Nanos kCacheAge = 20 * kSecond;
constexpr int32_t kHiddenSeconds = 1;

bool Writes(const Effect& effect) {
  return !std::holds_alternative<scheduler::ReadPod>(effect.action);
}

}  // namespace

Replica::Replica(Surroundings& around, Link& link, std::string name, int64_t clock_rate,
                 uint64_t seed, std::function<void()> exited)
    : around_(around),
      link_(link),
      name_(std::move(name)),
      exited_(std::move(exited)),
      loop_(std::make_shared<ReplicaLoop>(around.loop, clock_rate, seed)),
      times_(kube::LeaseTimes::Of(around.election)),
      lease_client_(*loop_, around.loop, around.api, link,
                    around.bug == Bug::kEarlyBarrier ? kHiddenSeconds : 0),
      seed_(seed) {
  for (const cluster::KindInfo& kind : cluster::WatchedKinds(around.behaviour)) {
    kinds_.push_back(kind.kind);
  }
  unknown_.insert(kinds_.begin(), kinds_.end());
}

void Replica::Say(std::string_view text) const {
  if (!around_.trace) return;
  around_.trace(fmt::format("{:12.6f} {} {}", static_cast<double>(around_.loop.Now()) / kSecond,
                            name_, text));
}

Result<void> Replica::Start() {
  scheduler::EngineOptions options;
  options.behaviour = around_.behaviour;
  options.algorithm.seed = seed_;
  options.call_extenders = false;
  auto engine =
      scheduler::Engine::Make(config::Default(around_.behaviour), options, Now(), nullptr, nullptr);
  if (!engine) return Fail(engine.error());
  engine_ = std::move(*engine);
  if (auto made = MakeElector(); !made) return made;
  if (around_.shares_work) MakeWork();
  Say("starts");
  for (const std::string_view kind : kinds_) List(kind, link_.dice.Between(0, kCacheAge));
  return {};
}

// --- What it knows

// A list of what there was at the server `age` ago: of the objects that have not been touched since
// then. Newer ones come as events.
void Replica::List(std::string_view kind, Nanos age) {
  around_.loop.After(
      link_.Wire(), [this, weak = loop_->weak_from_this(), kind, age, request = ++lists_] {
        const auto loop = weak.lock();
        if (!loop) return;
        if (link_.cut) {
          loop->After(kListPause, [this, kind, age] { List(kind, age); });
          return;
        }
        const bool newest = age == 0;
        Watch& watch = watches_[kind];
        ++watch.epoch;
        watch.under_way = 1;
        if (newest && to_list_.contains(kind) && kind == api::Pod::kKind)
          around_.truth.Read(epoch_);
        const Nanos now = around_.loop.Now();
        std::vector<sim::ObjectPtr> objects = around_.api.List(kind);
        const Nanos arrival = now + link_.Wire() + (newest ? 0 : link_.watch_lag);
        watch.last_arrival = arrival;
        loop->Arrive(arrival - now,
                     [this, kind, request, epoch = watch.epoch, objects = std::move(objects)] {
                       if (watches_[kind].epoch != epoch) return;
                       --watches_[kind].under_way;
                       Replace(kind, objects);
                       NoteListed(kind, request);
                       AfterInput();
                     });
      });
}

void Replica::Replace(std::string_view kind, const std::vector<sim::ObjectPtr>& objects) {
  std::vector<api::Object> list;
  list.reserve(objects.size());
  for (const sim::ObjectPtr& object : objects) {
    NoteShared(*object);
    list.push_back(*object);
    if (!adopted_.Empty()) adopted_.Correct(list.back());
  }
  engine_->AdvanceTo(Now());
  engine_->Replace(kind, std::move(list));
}

void Replica::NoteListed(std::string_view kind, uint64_t request) {
  if (unknown_.erase(kind) > 0 && unknown_.empty()) {
    elector_->Start();
    if (work_) work_->Start();
  }
  const auto wanted = hand_list_.find(kind);
  if (wanted != hand_list_.end() && request >= wanted->second) {
    hand_list_.erase(wanted);
    if (hand_list_.empty()) work_->Listed();
  }
  if (to_list_.erase(kind) > 0 && to_list_.empty() && !ending_) {
    Say("decides");
    scheduling_ = true;
  }
}

void Replica::OnChange(const sim::ApiChange& change) {
  const auto kind = std::find(kinds_.begin(), kinds_.end(), change.kind);
  if (engine_ == nullptr || kind == kinds_.end() || link_.cut) return;
  Watch& watch = watches_[*kind];
  const Nanos now = around_.loop.Now();
  watch.last_arrival = std::max(watch.last_arrival, now + link_.Wire() + link_.watch_lag);
  ++watch.under_way;
  loop_->Arrive(watch.last_arrival - now, [this, kind = *kind, epoch = watch.epoch, change] {
    if (watches_[kind].epoch != epoch) return;
    --watches_[kind].under_way;
    Deliver(change);
  });
}

void Replica::Deliver(const sim::ApiChange& change) {
  engine_->AdvanceTo(Now());
  if (change.type == sim::ApiChange::Type::kDeleted) {
    const auto* pod = std::get_if<api::Pod>(change.object.get());
    if (work_ && pod != nullptr) {
      work_->SawSettled(pod->metadata.uid);
      adopted_.Remove(*pod);
    }
    engine_->Delete(*change.object);
  } else {
    NoteShared(*change.object);
    api::Object object = *change.object;
    if (!adopted_.Empty()) adopted_.Correct(object);
    engine_->Upsert(std::move(object));
  }
  AfterInput();
}

void Replica::Reconnect() {
  for (const std::string_view kind : kinds_) List(kind, to_list_.contains(kind) ? 0 : 1);
}

bool Replica::Quiet() const {
  return IsSilent() && outbox_.empty() && hand_requests_.empty() && to_list_.empty() &&
         hand_list_.empty() && unknown_.empty() &&
         std::all_of(watches_.begin(), watches_.end(),
                     [](const auto& entry) { return entry.second.under_way == 0; });
}

// --- Leading

Result<void> Replica::MakeElector() {
  kube::LeaderCallbacks callbacks;
  callbacks.started_leading = [this](const kube::Succession& succession) {
    epoch_ = succession.epoch;
    Say(fmt::format("leads, epoch {}", epoch_));
    Lead(succession);
  };
  callbacks.stopped_leading = [this] {
    Say("has lost the lease");
    ending_ = true;
    scheduling_ = false;
    exited_();
  };
  callbacks.held_until = [this](net::Nanoseconds until) { MoveFence(until); };
  callbacks.is_silent = [this] { return IsSilent(); };
  if (around_.shares_work) {
    callbacks.observed = [this](std::string_view holder, int32_t epoch) {
      if (work_) work_->Observed(holder, epoch);
    };
    callbacks.in_sync_written = [this](const std::string& in_sync) {
      if (work_) work_->InSyncWritten(in_sync);
    };
  }
  auto elector = kube::LeaderElector::Make(*loop_, lease_client_, around_.election, name_,
                                           std::move(callbacks));
  if (!elector) return Fail(elector.error());
  elector_ = std::move(*elector);
  fence_.Move(net::Nanoseconds(0));
  return {};
}

void Replica::MoveFence(net::Nanoseconds until) {
  if (around_.bug == Bug::kLateDeadline) until += times_.lease - times_.renew_deadline;
  fence_.Move(until);
  if (work_) work_->SetFence(until);
  AfterInput();
}

void Replica::Lead(const kube::Succession& succession) {
  const net::Nanoseconds wait = succession.silent_from - loop_->Steady();
  if (succession.silent_from.count() > 0 && wait.count() > 0) {
    loop_->After(wait, [this, succession] { Lead(succession); });
  } else if (around_.bug == Bug::kNoList) {
    around_.truth.Read(epoch_);
    scheduling_ = true;
    AfterInput();
  } else if (work_ && work_->Lead(succession, [this] {
               if (ending_) return;
               Say("decides, with what it has adopted");
               scheduling_ = true;
               AfterInput();
             })) {
    around_.truth.Read(epoch_);
  } else {
    ListWritten();
  }
}

// --- Sharing work

void Replica::MakeWork() {
  SharedWork::Callbacks callbacks;
  callbacks.carry_out = [this](Effect effect) { CarryOut(std::move(effect)); };
  callbacks.carry_out_for = [this](uint64_t key, scheduler::EffectAction action,
                                   net::Nanoseconds until, int64_t epoch) {
    SendFor(key, std::move(action), until, epoch);
  };
  callbacks.tell = [this](EffectResult result) {
    engine_->AdvanceTo(Now());
    engine_->Complete(std::move(result));
    AfterInput();
  };
  callbacks.adopt = [this](api::Pod pod) {
    adopted_.Add(pod);
    engine_->AdvanceTo(Now());
    engine_->Upsert(std::move(pod));
    AfterInput();
  };
  callbacks.list = [this] { ListForHand(); };
  callbacks.set_in_sync = [this](const std::string& in_sync) { elector_->SetInSync(in_sync); };
  callbacks.find = around_.find_work;
  callbacks.others = [this] { return around_.others(name_); };
  work_ = std::make_unique<SharedWork>(around_.loop, *loop_, link_, name_, times_.WriteTimeout(),
                                       MistakeOf(around_.bug), std::move(callbacks));
}

void Replica::ListForHand() {
  for (const std::string_view kind : kinds_) {
    if (kube::SchedulersWrite(kind)) hand_list_[kind] = lists_ + 1;
  }
  for (const auto& [kind, request] : std::map(hand_list_)) List(kind, 0);
}

void Replica::NoteShared(const api::Object& object) {
  const auto* pod = work_ ? std::get_if<api::Pod>(&object) : nullptr;
  if (pod != nullptr && !pod->spec.node_name.empty()) work_->SawSettled(pod->metadata.uid);
}

bool Replica::IsSilent() const {
  return requests_.empty() && (!work_ || work_->Outstanding() == 0);
}

void Replica::ListWritten() {
  const auto written = [](std::string_view kind) { return kube::SchedulersWrite(kind); };
  std::copy_if(kinds_.begin(), kinds_.end(), std::inserter(to_list_, to_list_.end()), written);
  for (const std::string_view kind : std::vector(to_list_.begin(), to_list_.end())) List(kind, 0);
}

void Replica::Terminate() {
  if (std::exchange(ending_, true)) return;
  Say("is asked to end");
  scheduling_ = false;
  if (around_.bug == Bug::kDirtyRelease) return elector_->Release([this] { exited_(); });
  const net::Nanoseconds patience = times_.WriteTimeout() + std::chrono::seconds(1);
  kube::ReleaseWhenSilent(
      *loop_, *elector_, fence_, [this] { return IsSilent() && outbox_.empty(); },
      loop_->Steady() + patience, [this] { exited_(); });
}

// --- Deciding

// As in a real process: a clock that began at wall time and never jumps.
api::Time Replica::Now() const {
  return api::Time::FromUnixNano(around_.loop.TimeAt(0).UnixNano() + loop_->Steady().count());
}

void Replica::AfterInput() {
  if (engine_ == nullptr || std::exchange(turn_pending_, true)) return;
  loop_->After(net::Nanoseconds(link_.dice.Between(0, 3 * kMillisecond)), [this] { Turn(); });
}

void Replica::Turn() {
  turn_pending_ = false;
  engine_->AdvanceTo(Now());
  const bool tried = scheduling_ && !fence_.Passed(loop_->Steady()) && engine_->Step();
  for (Effect& effect : engine_->TakeEffects()) {
    if (std::holds_alternative<scheduler::RecordEvent>(effect.action)) continue;
    outbox_.push_back(std::move(effect));
  }
  // Sending is another thread's: the process may be stopped in between.
  if (!outbox_.empty()) loop_->Post([this] { SendAll(); });
  tried ? AfterInput() : ArmWake();
}

void Replica::ArmWake() {
  loop_->Cancel(std::exchange(wake_, 0));
  const auto next = engine_->NextWake();
  if (!next) return;
  const net::Nanoseconds delay(
      std::max<int64_t>(next->UnixNano() - Now().UnixNano(), kMillisecond));
  wake_ = loop_->After(delay, [this] {
    wake_ = 0;
    AfterInput();
  });
}

// --- Requests

void Replica::SendAll() {
  for (Effect& effect : std::exchange(outbox_, {})) {
    work_ ? work_->Run(std::move(effect)) : CarryOut(std::move(effect));
  }
}

void Replica::CarryOut(Effect effect) {
  const scheduler::EffectId id = effect.id;
  requests_.insert(id);
  if (Writes(effect) && around_.bug != Bug::kNoFence && fence_.Passed(loop_->Steady())) {
    loop_->Post([this, id] {
      Complete({.id = id, .code = EffectResult::Code::kError, .message = "not sent"});
    });
    return;
  }
  Send(std::move(effect), epoch_, [this](EffectResult result) {
    if (requests_.contains(result.id)) Complete(std::move(result));
  });
}

// As a hand.
void Replica::SendFor(uint64_t key, scheduler::EffectAction action, net::Nanoseconds until,
                      int64_t epoch) {
  hand_requests_.insert(key);
  const auto done = [this](const EffectResult& result) {
    if (hand_requests_.erase(result.id) > 0) work_->Finished(result.id, result);
  };
  if (around_.bug != Bug::kStaleFence && loop_->Steady() >= until) {
    return done({.id = key, .code = EffectResult::Code::kError, .message = "not sent"});
  }
  Send({key, std::move(action)}, epoch, done);
}

Nanos Replica::WriteTimeout() const {
  return around_.bug == Bug::kNoTimeout ? kCacheAge : times_.WriteTimeout().count();
}

// `done` may be called more than once.
void Replica::Send(Effect effect, int64_t epoch, Done done) {
  Say(sim::Describe(effect));
  loop_->After(kPatience, [done, effect] { done(sim::Unanswered(effect)); });
  const Nanos timeout = WriteTimeout();
  const Nanos takes = Writes(effect) ? link_.ServerTime(timeout) : 0;
  // From here on it is the server's: a crash does not call it back.
  around_.loop.After(link_.Wire(), [this, weak = loop_->weak_from_this(), &around = around_,
                                    &link = link_, effect = std::move(effect),
                                    epoch = static_cast<int32_t>(epoch), done, timeout, takes] {
    if (link.cut) return;
    around.loop.After(std::min(takes, timeout), [weak, &around, &link, effect, epoch, done, timeout,
                                                 takes] {
      sim::ApiAnswer answer{.code = 504, .message = "the request did not complete in time"};
      if (takes <= timeout) {
        answer = sim::CarryOut(around.api, effect);
        around.truth.CarriedOut(epoch, effect, answer);
      }
      const auto loop = weak.lock();
      if (!loop || link.cut || link.dice.PerMille(link.lost_answers)) return;
      loop->Arrive(link.Wire(), [done, result = sim::ResultOf(effect, answer)] { done(result); });
    });
  });
}

void Replica::Complete(EffectResult result) {
  requests_.erase(result.id);
  if (work_) return work_->Answered(std::move(result));
  engine_->AdvanceTo(Now());
  engine_->Complete(std::move(result));
  AfterInput();
}

}  // namespace berth::replicas

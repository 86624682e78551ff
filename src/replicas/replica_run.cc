#include "replicas/replica_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/config.h"
#include "replicas/replica.h"
#include "sim/chaos/inhabitants.h"
#include "sim/chaos/profile.h"

namespace berth::replicas {
namespace {

using sim::kMillisecond;
using sim::kMinute;
using sim::kSecond;
using sim::Nanos;

constexpr Nanos kGap = 200 * kMillisecond;  // between two steps, on average
constexpr Nanos kRestTime = 2 * kMinute;    // without a binding
constexpr Nanos kRestAtMost = 60 * kMinute;
constexpr size_t kPodsAtMost = 90;
constexpr int64_t kActionsAtMost = 2'000'000;

api::Time StartOfTime() { return api::Time::FromUnixNano(1'767'225'600 * kSecond); }

sim::ChaosProfile Inhabitants() {
  sim::ChaosProfile profile;
  profile.rules = 250;
  profile.priorities = {0, 0, 0, 10};
  profile.cpu_low = 300;
  profile.cpu_high = 2500;
  return profile;
}

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        dice_(options.seed),
        loop_(StartOfTime()),
        api_(loop_),
        truth_(loop_, api_),
        around_{.loop = loop_,
                .api = api_,
                .truth = truth_,
                .behaviour = options.behaviour,
                .election = config::Default(options.behaviour).leader_election,
                .bug = options.bug,
                .shares_work = options.shares_work,
                .trace = options.trace},
        profile_(Inhabitants()) {
    api_.Subscribe([this](const sim::ApiChange& change) {
      for (const auto& slot : slots_) {
        if (slot->replica) slot->replica->OnChange(change);
      }
    });
    if (options_.shares_work) ShareWork();
  }

  RunOutcome Go() {
    Populate();
    for (int64_t i = 0; i < options_.replicas; ++i) {
      slots_.push_back(std::make_unique<Slot>(Slot{.number = i, .link = Link(dice_.Seed())}));
      StartReplica(*slots_.back());
    }
    for (; step_ < options_.steps && !Failed(); ++step_) {
      Step();
      Pass(loop_.Now() + dice_.Between(0, 2 * kGap));
    }
    if (!Failed()) Rest();
    return {.violation = failure_.value_or(truth_.Violation().value_or("")),
            .step = step_,
            .time = loop_.Now(),
            .bindings = truth_.Bindings(),
            .takeovers = truth_.Takeovers(),
            .faults = faults_,
            .carried = carried_};
  }

 private:
  // A place where a replica runs; after a crash another is started there.
  struct Slot {
    int64_t number = 0;
    Link link;
    std::unique_ptr<Replica> replica = nullptr;
    uint64_t starts = 0;
  };

  // --- Replicas that share work
  void ShareWork() {
    around_.find_work = [this](const std::string& name) -> SharedWork* {
      Replica* replica = Find(name);
      return replica == nullptr ? nullptr : replica->Work();
    };
    around_.others = [this](const std::string& but) {
      std::vector<std::string> names;
      for (const auto& slot : slots_) {
        if (slot->replica && slot->replica->Name() != but) names.push_back(slot->replica->Name());
      }
      return names;
    };
    truth_.Follow({.runs = [this](const std::string& name) { return Find(name) != nullptr; },
                   .have =
                       [this](const std::string& name, const scheduler::BindPod& bind) {
                         return Find(name)->Work()->Logged(bind.pod.uid, bind.node);
                       }});
  }
  Replica* Find(const std::string& name) const {
    for (const auto& slot : slots_) {
      if (slot->replica && slot->replica->Name() == name) return slot->replica.get();
    }
    return nullptr;
  }

  bool Failed() const { return failure_.has_value() || truth_.Violation().has_value(); }
  void Say(std::string_view text) const {
    if (!options_.trace) return;
    options_.trace(
        fmt::format("{:12.6f} --- {}", static_cast<double>(loop_.Now()) / kSecond, text));
  }

  // --- Cluster
  void Populate() {
    for (api::Object& object : sim::MakeClasses()) api_.Create(std::move(object));
    const int64_t nodes = dice_.Between(2, 5);
    for (int64_t i = 0; i < nodes; ++i) {
      api_.Create(sim::MakeNode(fmt::format("node-{}", i), dice_));
    }
    for (int i = 0; i < 40; ++i) AddPod();
  }
  void AddPod() {
    const std::string name = fmt::format("p{}", next_pod_++);
    const std::string group = fmt::format("g{}", dice_.Between(0, 9));
    api_.Create(sim::MakePodOf(sim::MakeGroup(group, profile_, dice_), name));
  }
  void RemovePod(bool bound) {
    std::vector<const api::Pod*> pods;
    api_.ForEach<api::Pod>([&](const api::Pod& pod) {
      if (pod.spec.node_name.empty() != bound) pods.push_back(&pod);
    });
    if (pods.empty()) return;
    const api::ObjectMeta& meta = dice_.Pick(pods)->metadata;
    api_.DeletePod({meta.namespace_, meta.name, meta.uid}, dice_.PerMille(700) ? 0 : kSecond);
  }

  // --- Replicas
  void StartReplica(Slot& slot) {
    const std::vector<int64_t> rates = {900, 1000, 1100};
    const std::string name = fmt::format("r{}-{}", slot.number, ++slot.starts);
    slot.replica =
        std::make_unique<Replica>(around_, slot.link, name, dice_.Pick(rates), dice_.Seed(),
                                  [this, &slot, start = slot.starts] { EndLater(slot, start); });
    if (auto started = slot.replica->Start(); !started) failure_ = started.error().Message();
  }
  // A replica ends in the midst of its own work.
  void EndLater(Slot& slot, uint64_t start) {
    loop_.After(0, [this, &slot, start] {
      if (slot.replica && slot.starts == start) Crash(slot);
    });
  }
  void Crash(Slot& slot) {
    if (slot.replica->Work() != nullptr) carried_ += slot.replica->Work()->Carried();
    slot.replica.reset();
    const Nanos down = calm_ ? kSecond : dice_.Between(0, 6 * kSecond);
    loop_.After(down, [this, &slot] {
      if (!slot.replica) StartReplica(slot);
    });
  }
  // The leader more often than others; null: none runs.
  Slot* Victim() {
    std::vector<Slot*> running;
    for (const auto& slot : slots_) {
      if (!slot->replica || slot->replica->Loop().Paused()) continue;
      if (slot->replica->Leads() && dice_.PerMille(600)) return slot.get();
      running.push_back(slot.get());
    }
    return running.empty() ? nullptr : dice_.Pick(running);
  }
  Nanos SomeTime() {
    return dice_.PerMille(400) ? dice_.Between(kMillisecond, 3 * kSecond)
                               : dice_.Between(8 * kSecond, 40 * kSecond);
  }
  void Pause(Slot& slot) {
    const Nanos time = SomeTime();
    Say(fmt::format("r{} is paused for {} ms", slot.number, time / kMillisecond));
    slot.replica->Loop().Pause();
    loop_.After(time, [this, &slot, start = slot.starts] { Resume(slot, start); });
  }
  void Resume(Slot& slot, uint64_t start) {
    if (!slot.replica || slot.starts != start || !slot.replica->Loop().Paused()) return;
    Say(fmt::format("r{} goes on", slot.number));
    slot.replica->Loop().Resume();
  }
  // Something about its link holds for a while.
  template <class T>
  void Disturb(Slot& slot, std::string_view what, T Link::*which, T value) {
    Disturb(slot, what, which, value, SomeTime());
  }
  template <class T>
  void Disturb(Slot& slot, std::string_view what, T Link::*which, T value, Nanos time) {
    Say(fmt::format("r{}: {} for {} ms", slot.number, what, time / kMillisecond));
    slot.link.*which = value;
    loop_.After(time, [this, &slot, which] { Restore(slot, which); });
  }
  template <class T>
  void Restore(Slot& slot, T Link::*which) {
    const bool was_cut = slot.link.cut;
    slot.link.*which = T{};
    if (was_cut && !slot.link.cut && slot.replica) slot.replica->Reconnect();
  }

  // --- Steps
  void Step() {
    const int64_t pods = dice_.Between(0, 5);
    for (int64_t i = 0; i < pods; ++i) {
      size_t count = 0;
      api_.ForEach<api::Pod>([&](const api::Pod&) { ++count; });
      if (count >= kPodsAtMost || dice_.PerMille(450)) {
        RemovePod(dice_.PerMille(800));
      } else {
        AddPod();
      }
    }
    if (dice_.PerMille(40)) Disrupt();
  }
  void Disrupt() {
    Slot* slot = Victim();
    if (slot == nullptr) return;
    ++faults_;
    switch (dice_.Between(0, options_.shares_work ? 15 : 12)) {
      case 0:
      case 1:
      case 2:
        return Pause(*slot);
      case 3:
        Say(fmt::format("r{} crashes", slot->number));
        return Crash(*slot);
      case 4:
      case 5:
        return slot->replica->Terminate();
      case 6:
        return Disturb(*slot, "cut off", &Link::cut, true);
      case 7:
      case 8:
      case 9:
        return BrownOut();
      case 10:
        return StallWatches();
      case 13:
        return Disturb(*slot, "cut off from replicas", &Link::peers_cut, true);
      case 14:
        return ReleaseInTheMidst();
      case 15:
        return CrashAll();
      case 11:
        return Disturb(*slot, "slow server", &Link::slow_server, true);
      default:
        slot->replica->Loop().JumpWallClock(dice_.Between(-kMinute, kMinute));
        return Disturb(*slot, "answers are lost", &Link::lost_answers, uint32_t{200});
    }
  }

  // The leader ends while watches lag: who follows adopts what its log holds.
  void ReleaseInTheMidst() {
    StallWatches();
    for (const auto& slot : slots_) {
      if (slot->replica && slot->replica->Leads()) return slot->replica->Terminate();
    }
  }
  void CrashAll() {
    Say("all replicas crash");
    for (const auto& slot : slots_) {
      if (slot->replica) Crash(*slot);
    }
  }

  // The leader cannot renew its Lease, and the server carries out writes late.
  void BrownOut() {
    for (const auto& slot : slots_) {
      if (!slot->replica || !slot->replica->Leads()) continue;
      const Nanos time = dice_.Between(12 * kSecond, 30 * kSecond);
      Disturb(*slot, "slow server", &Link::slow_server, true, time);
      Disturb(*slot, "cut off from the lease", &Link::lease_cut, true, time);
    }
  }

  // Of all replicas: the server itself is behind.
  void StallWatches() {
    const Nanos lag = dice_.Between(kSecond, 20 * kSecond);
    for (const auto& slot : slots_) Disturb(*slot, "watches stall", &Link::watch_lag, lag);
  }

  void Pass(Nanos until) {
    for (int64_t actions = 0; !Failed() && loop_.RunNext(until); ++actions) {
      if (actions > kActionsAtMost) failure_ = "time stands still";
    }
    if (!Failed()) loop_.RunUntil(until);
  }

  // --- Rest
  void Rest() {
    Say("rest");
    calm_ = true;
    for (const auto& slot : slots_) {
      slot->link.lease_cut = slot->link.slow_server = slot->link.peers_cut = false;
      slot->link.lost_answers = 0;
      slot->link.watch_lag = 0;
      if (std::exchange(slot->link.cut, false) && slot->replica) slot->replica->Reconnect();
      Resume(*slot, slot->starts);
    }
    const Nanos limit = loop_.Now() + kRestAtMost;
    const Nanos begun = loop_.Now();
    while (!Failed() && !AtRest(begun)) {
      if (loop_.Now() > limit) failure_ = "liveness: the cluster does not come to rest";
      Pass(loop_.Now() + kSecond);
    }
    if (Failed()) return;
    for (const auto& slot : slots_) {
      if (slot->replica && slot->replica->Work()) carried_ += slot->replica->Work()->Carried();
    }
    truth_.CheckRest();
    const auto leading = std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) {
      return slot->replica && slot->replica->Leads();
    });
    if (leading != 1) failure_ = fmt::format("liveness: {} replicas lead at rest", leading);
  }
  // Longer than pods wait for their next attempt at most.
  bool AtRest(Nanos begun) const {
    return loop_.Now() > std::max(begun + 6 * kMinute, truth_.LastMove() + kRestTime) &&
           std::all_of(slots_.begin(), slots_.end(),
                       [](const auto& slot) { return slot->replica && slot->replica->Quiet(); });
  }

  const RunOptions& options_;
  sim::Dice dice_;
  sim::EventLoop loop_;
  sim::ModelApi api_;
  Truth truth_;
  Surroundings around_;
  const sim::ChaosProfile profile_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::optional<std::string> failure_;
  uint64_t next_pod_ = 0;
  int64_t step_ = 0;
  uint64_t faults_ = 0;
  uint64_t carried_ = 0;
  bool calm_ = false;
};

}  // namespace

RunOutcome RunReplicas(const RunOptions& options) { return std::make_unique<Run>(options)->Go(); }

}  // namespace berth::replicas

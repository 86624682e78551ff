#include "sim/chaos/seed_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "config/config.h"
#include "sim/chaos/actions.h"
#include "sim/chaos/controllers.h"
#include "sim/chaos/dice.h"
#include "sim/chaos/faulty_network.h"
#include "sim/chaos/invariants.h"
#include "sim/chaos/trace.h"
#include "sim/host/engine_host.h"
#include "sim/host/model_api.h"

namespace berth::sim {
namespace {

// Beyond this the cluster will not come to rest: something goes in circles.
constexpr Nanos kRestAtMost = 120 * kMinute;
// Loop actions between two steps, beyond which time stands still.
constexpr int64_t kActionsAtMost = 500'000;

api::Time Start() { return api::Time::FromUnixNano(1'767'225'600 * kSecond); }

class SeedRun {
 public:
  explicit SeedRun(const SeedOptions& options)
      : options_(options),
        dice_(options.seed),
        loop_(Start()),
        api_(loop_),
        controllers_(loop_, api_, dice_.Seed()),
        actions_(*options.profile, loop_, api_, controllers_, dice_.Seed()),
        network_(options.profile->faults, dice_.Seed()),
        invariants_(loop_, api_),
        tracer_(loop_, invariants_, options.trace),
        host_(loop_, api_, network_, ConfigFor(*options.profile, options.behaviour),
              EngineOptions(), &tracer_, options.tap) {
    invariants_.Watch(host_);
  }

  SeedOutcome Run() {
    actions_.Populate();
    Restart();
    for (; step_ < options_.steps && !Failed(); ++step_) Step();
    if (!Failed()) Rest();
    return {.violation = failure_.value_or(invariants_.Violation().value_or("")),
            .step = step_,
            .time = loop_.Now(),
            .attempts = invariants_.Attempts(),
            .bindings = invariants_.Bindings(),
            .preemptions = invariants_.Preemptions(),
            .crashes = crashes_,
            .faults = network_.Faults()};
  }

 private:
  scheduler::EngineOptions EngineOptions() {
    scheduler::EngineOptions engine;
    engine.algorithm.seed = dice_.Seed();
    engine.behaviour = options_.behaviour;
    engine.planted_bug = options_.planted_bug;
    return engine;
  }

  bool Failed() const { return failure_.has_value() || invariants_.Violation().has_value(); }

  void Restart() {
    if (auto started = host_.Start(); !started) {
      failure_ = "the engine does not start: " + started.error().Message();
    }
  }

  void Step() {
    const std::string done = actions_.Act();
    if (!done.empty()) tracer_.Line(fmt::format("--- step {}: {}", step_, done));
    if (host_.Running() && dice_.PerMille(options_.profile->faults.crash)) {
      ++crashes_;
      host_.Crash();
      loop_.After(dice_.Between(0, 5) * kSecond, [this] { Restart(); });
    }
    invariants_.CheckAlways();
    Pass(loop_.Now() + Gap());
  }

  // Mostly short, so that things happen at once; now and then long, so that flushes and timeouts
  // come into play.
  Nanos Gap() {
    if (dice_.PerMille(20)) return dice_.Between(10, 400) * kSecond / 4;
    return dice_.Between(0, 2 * options_.profile->gap);
  }

  // Lets time pass and looks at what always holds.
  void Pass(Nanos until) {
    bool checked_quiet = false;
    for (int64_t actions = 0; !Failed() && loop_.RunNext(until); ++actions) {
      if (actions > kActionsAtMost) failure_ = "time stands still";
      if (actions % 8 == 0) invariants_.CheckAlways();
      if (!host_.Quiet()) {
        checked_quiet = false;
      } else if (!checked_quiet) {
        checked_quiet = true;
        invariants_.CheckAlways();
        if (!Failed()) invariants_.CheckQuiet();
      }
    }
    if (!Failed()) loop_.RunUntil(until);
  }

  // Nothing is done to the cluster any more and nothing goes wrong: it comes to rest.
  void Rest() {
    tracer_.Line("--- rest");
    network_.CalmDown();
    controllers_.CalmDown();
    limit_ = loop_.Now() + kRestAtMost;
    Pass(loop_.Now() + kMinute);  // what was under way from before: restarts, slow requests
    for (const Nanos since_last_move : {kWakeTime, kRestTime}) {
      ComeToRest(since_last_move);
      if (Failed()) return;
      invariants_.CheckAlways();
      invariants_.CheckQuiet();
      invariants_.CheckRest();
    }
  }

  // Until no pod has been bound or removed for `time`, and nothing is under way.
  void ComeToRest(Nanos time) {
    while (!Failed() && (loop_.Now() < invariants_.LastMove() + time || !host_.Quiet())) {
      if (loop_.Now() > limit_) failure_ = "liveness: the cluster does not come to rest";
      const bool moved_lately = loop_.Now() < invariants_.LastMove() + time;
      Pass(loop_.Now() + (moved_lately ? 5 * kSecond : kSecond / 10));
    }
  }

  const SeedOptions& options_;
  Dice dice_;
  EventLoop loop_;
  ModelApi api_;
  Controllers controllers_;
  Actions actions_;
  FaultyNetwork network_;
  Invariants invariants_;
  Tracer tracer_;
  EngineHost host_;
  std::optional<std::string> failure_;
  Nanos limit_ = 0;
  int64_t step_ = 0;
  uint64_t crashes_ = 0;
};

}  // namespace

SeedOutcome RunSeed(const SeedOptions& options) {
  return std::make_unique<SeedRun>(options)->Run();
}

}  // namespace berth::sim

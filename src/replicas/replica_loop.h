// ReplicaLoop: the net::Loop of one simulated replica, in the virtual time of a simulation.
//
// Its clocks run faster or slower than true time, and its wall clock may jump. While the replica is
// paused nothing runs: what was due meanwhile runs afterwards, in order, with clocks that went on,
// as in a process that was stopped and continued.
//
// Made with std::make_shared: actions of the simulation find it gone after a crash.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "net/loop.h"
#include "sim/chaos/dice.h"
#include "sim/host/event_loop.h"

namespace berth::replicas {

class ReplicaLoop final : public net::Loop, public std::enable_shared_from_this<ReplicaLoop> {
 public:
  // `rate`: nanoseconds of its clocks per thousand of true time. `world` outlives the loop.
  ReplicaLoop(sim::EventLoop& world, int64_t rate, uint64_t seed)
      : world_(world), rate_(rate), dice_(seed), started_(world.Now()) {}

  void Post(Task task) override { After(net::Nanoseconds(0), std::move(task)); }
  TimerId After(net::Nanoseconds delay, Task task) override;
  void Cancel(TimerId timer) override { tasks_.erase(timer); }
  api::Time Now() const override {
    return api::Time::FromUnixNano(world_.TimeAt(0).UnixNano() + Steady().count() + wall_offset_);
  }
  net::Nanoseconds Steady() const override {
    return net::Nanoseconds((world_.Now() - started_) * rate_ / 1000);
  }
  double Random() override { return static_cast<double>(dice_.Between(0, 999)) / 1000; }

  // Something arrives from outside after `delay` of true time.
  void Arrive(sim::Nanos delay, Task task) { RunAfter(delay, std::move(task)); }

  void Pause() { paused_ = true; }
  void Resume();
  bool Paused() const { return paused_; }
  void JumpWallClock(sim::Nanos by) { wall_offset_ += by; }

 private:
  TimerId RunAfter(sim::Nanos true_delay, Task task);
  void Due(TimerId id);

  sim::EventLoop& world_;
  const int64_t rate_;
  sim::Dice dice_;
  const sim::Nanos started_;
  sim::Nanos wall_offset_ = 0;
  bool paused_ = false;
  TimerId next_ = 1;
  std::map<TimerId, Task> tasks_;
  std::deque<TimerId> held_;  // due while paused
};

}  // namespace berth::replicas

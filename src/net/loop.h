// Loop: the one thread that talks to the network, and its timers.
//
// Everything in this room runs on the loop's thread and needs no locks; other threads hand work
// over with Post. Reflectors, writers and the leader elector see only this interface, so tests run
// them in virtual time (fake_loop.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "api/time.h"
#include "net/pause_policy.h"

namespace berth::net {

class Loop {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // never 0

  virtual ~Loop() = default;

  // Runs `task` on the loop's thread, in the order of the calls. May be called from any thread.
  virtual void Post(Task task) = 0;
  // The rest: only on the loop's thread.
  virtual TimerId After(Nanoseconds delay, Task task) = 0;
  // Unknown ids (0, run, cancelled before) are ignored.
  virtual void Cancel(TimerId timer) = 0;
  // The wall clock.
  virtual api::Time Now() const = 0;
  // A clock that never goes back, for deadlines.
  virtual Nanoseconds Steady() const = 0;
  // Uniform in [0, 1), for jitter.
  virtual double Random() = 0;

  // When the loop pauses to gather what arrives. A change holds at once, in a pause too. Only on
  // the loop's thread.
  PausePolicy& Pauses() { return pauses_; }

 private:
  PausePolicy pauses_;
};

// A loop over the operating system's sockets and clocks.
class SystemLoop : public Loop {
 public:
  // Runs until Stop; called once.
  virtual void Run() = 0;
  // May be called from any thread and from a signal handler's thread.
  virtual void Stop() = 0;
  // Runs `task` when sockets are looked at next. Only on the loop's thread.
  virtual void NextRound(Task task) = 0;
  // The boost::asio::io_context, for the files that speak to it.
  virtual void* Native() = 0;
};
std::unique_ptr<SystemLoop> MakeSystemLoop();

}  // namespace berth::net

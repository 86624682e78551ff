// EventLoop: virtual time, and what is going to happen in it.
//
// Actions run in the order of their times; those of the same time in the order they were asked for.
// Nothing else decides, so equal programs run equally. Time stands still while an action runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "api/time.h"

namespace berth::sim {

// Nanoseconds, of virtual time since the loop was made or of a length of time.
using Nanos = int64_t;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;
inline constexpr Nanos kMinute = 60 * kSecond;

class EventLoop {
 public:
  using Action = std::function<void()>;
  // Tells an action from all others, for Cancel.
  struct Ticket {
    Nanos at = 0;
    uint64_t sequence = 0;
    auto operator<=>(const Ticket&) const = default;
  };

  // Virtual time begins at `start`.
  explicit EventLoop(const api::Time& start) : start_(start) {}

  Nanos Now() const { return now_; }
  api::Time Time() const { return TimeAt(now_); }
  api::Time TimeAt(Nanos at) const { return api::Time::FromUnixNano(start_.UnixNano() + at); }
  Nanos NanosOf(const api::Time& time) const { return time.UnixNano() - start_.UnixNano(); }

  // A time that has passed counts as now.
  Ticket At(Nanos at, Action action);
  Ticket After(Nanos delay, Action action) { return At(now_ + delay, std::move(action)); }
  // False when it has run or was cancelled before.
  bool Cancel(const Ticket& ticket) { return actions_.erase(ticket) > 0; }

  bool Empty() const { return actions_.empty(); }
  // When the next action runs.
  std::optional<Nanos> Next() const;
  // Runs the next action, unless it is later than `limit`. False: there was none to run.
  bool RunNext(Nanos limit);
  // Runs what happens up to `limit`; then it is `limit`.
  void RunUntil(Nanos limit);

 private:
  api::Time start_;
  Nanos now_ = 0;
  uint64_t next_sequence_ = 0;
  std::map<Ticket, Action> actions_;
};

}  // namespace berth::sim

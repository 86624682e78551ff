// PausePolicy: how long a loop leaves its sockets and timers alone after it has served them.
//
// A pause gathers: one wake-up, one read and one write then serve many requests, with warm caches.
// It also delays what arrives during the pause, so a loop pauses only where that costs nothing.
//
// A loop that sends requests (FollowBacklog) pauses while many of them are unanswered. The server
// is busy with those, a request sent now would wait behind them, and a pause of a fraction of an
// answer's time leaves the server enough to do. With few requests in flight there is no pause.
//
// A loop that serves others (the default) pauses for a millisecond after a round with much work.
//
// Counts and times are handed in. The rule for senders does not look at CPU time: on a busy machine
// the same work takes several times as long, which says nothing about the server.
//
// Owned by a Loop and used on its thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace berth::net {

using Nanoseconds = std::chrono::nanoseconds;

class PausePolicy {
 public:
  // With fewer requests in flight a loop that sends does not pause.
  static constexpr size_t kManyInFlight = 16;
  // A pause is at most this share of the time that an answer takes: while the owner could send
  // more at any time, and while it holds requests back until earlier ones are answered.
  static constexpr int kShare = 20;
  static constexpr int kShareHeldBack = 4;
  // A loop that serves others pauses for kServing after rounds with more work than kMuchWork.
  static constexpr Nanoseconds kMuchWork = std::chrono::microseconds(100);
  static constexpr Nanoseconds kServing = std::chrono::milliseconds(1);

  // From now on the loop belongs to a sender; no pause is longer than `longest`.
  void FollowBacklog(Nanoseconds longest) {
    follows_backlog_ = true;
    longest_ = longest;
  }
  // True: After does not look at `work`.
  bool FollowsBacklog() const { return follows_backlog_; }

  // A request was sent, and will be answered or given up.
  void Sent() { ++in_flight_; }
  // One of them was, after so long.
  void Answered(Nanoseconds took) {
    if (in_flight_ > 0) --in_flight_;
    if (in_flight_ < kManyInFlight) {
      answer_time_ = Nanoseconds(0);  // says nothing about the next burst
    } else if (answer_time_.count() == 0) {
      answer_time_ = took;
    } else {
      answer_time_ += (took - answer_time_) / kSmoothing;
    }
  }
  // The owner decides nothing new until requests in flight are answered.
  void SetHeldBack(bool held_back) { held_back_ = held_back; }
  // The owner can do nothing at all before one answer: no pauses.
  void SetHurried(bool hurried) { hurried_ = hurried; }

  // The pause after a round that took `work` of CPU time.
  Nanoseconds After(Nanoseconds work) const {
    if (hurried_) return Nanoseconds(0);
    if (!follows_backlog_) return work > kMuchWork ? kServing : Nanoseconds(0);
    if (in_flight_ < kManyInFlight) return Nanoseconds(0);
    return std::min(longest_, answer_time_ / (held_back_ ? kShareHeldBack : kShare));
  }

  size_t InFlight() const { return in_flight_; }

 private:
  static constexpr int kSmoothing = 8;

  Nanoseconds longest_{0};
  Nanoseconds answer_time_{0};  // of requests in flight, smoothed; 0: not known
  size_t in_flight_ = 0;
  bool follows_backlog_ = false;
  bool held_back_ = false;
  bool hurried_ = false;
};

}  // namespace berth::net

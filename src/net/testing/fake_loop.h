// FakeLoop: a Loop in virtual time, for tests. Nothing runs until the test says so.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "net/loop.h"

namespace berth::net {

class FakeLoop final : public Loop {
 public:
  explicit FakeLoop(api::Time start = api::Time::FromUnixNano(1'700'000'000'000'000'000))
      : start_(start) {}

  void Post(Task task) override { posted_.push_back(std::move(task)); }
  TimerId After(Nanoseconds delay, Task task) override {
    const TimerId id = next_++;
    timers_.emplace(std::pair(now_ + std::max(delay, Nanoseconds(0)), id), std::move(task));
    return id;
  }
  void Cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  api::Time Now() const override {
    return api::Time::FromUnixNano(start_.UnixNano() + now_.count());
  }
  Nanoseconds Steady() const override { return now_; }
  double Random() override { return random; }

  // Runs what was posted, and what that posts.
  void RunPosted() {
    while (!posted_.empty()) {
      Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }
  // Lets time pass; timers run in order, each at its time.
  void Advance(Nanoseconds by) {
    const Nanoseconds until = now_ + by;
    RunPosted();
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      auto node = timers_.extract(timers_.begin());
      now_ = std::max(now_, node.key().first);
      node.mapped()();
      RunPosted();
    }
    now_ = until;
  }
  // Time passes and nothing runs, as in a process that is stopped. Overdue timers run with the next
  // Advance.
  void Freeze(Nanoseconds by) { now_ += by; }
  size_t Timers() const { return timers_.size(); }

  double random = 0.5;

 private:
  api::Time start_;
  Nanoseconds now_{0};
  TimerId next_ = 1;
  std::deque<Task> posted_;
  std::map<std::pair<Nanoseconds, TimerId>, Task> timers_;
};

}  // namespace berth::net

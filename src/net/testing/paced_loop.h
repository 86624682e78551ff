// PacedLoop: a Loop in virtual time that pauses as SystemLoop does, for tests.
//
// What the test delivers stands for bytes that arrived at a socket: it is served in the next round,
// and waits while the loop pauses. Posts run at once, in a pause too, and may come from other
// threads. Time passes only where a pause is waited out and where the test says so, so that what a
// pod waited for is a number that does not depend on the machine.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "net/loop.h"

namespace berth::net {

class PacedLoop final : public Loop {
 public:
  void Post(Task task) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(task));
    }
    changed_.notify_one();
  }
  TimerId After(Nanoseconds delay, Task task) override {
    const TimerId id = next_++;
    timers_.emplace(std::pair(now_ + std::max(delay, Nanoseconds(0)), id), std::move(task));
    return id;
  }
  void Cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  api::Time Now() const override {
    return api::Time::FromUnixNano(1'700'000'000'000'000'000 + now_.count());
  }
  Nanoseconds Steady() const override { return now_; }
  double Random() override { return 0.5; }

  // Bytes arrived at a socket; `read` reads them.
  void Deliver(Task read) { ready_.push_back(std::move(read)); }
  // Lets time pass, and serves what is ready unless the loop still pauses.
  void Pass(Nanoseconds time) {
    now_ += time;
    RunPosted();
    RunTimers();
    if (!ready_.empty() && now_ >= Resumes()) ServeRound();
  }
  // Runs until `done` holds. Waits for posts of other threads when nothing else is left to do.
  void RunUntil(const std::function<bool()>& done) {
    for (;;) {
      const bool ran = RunPosted();
      if (done()) return;
      if (ran) continue;
      if (!ready_.empty()) {
        ServeRound();
      } else {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !posted_.empty(); });
      }
    }
  }

  int rounds = 0;
  int pauses_met = 0;                                    // rounds that waited for a pause's end
  Nanoseconds work_per_round = std::chrono::seconds(1);  // CPU time: a machine that is very slow

 private:
  bool RunPosted() {
    std::vector<Task> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(posted_);
    }
    for (const Task& task : tasks) task();
    return !tasks.empty();
  }

  // The end of the pause after the last round. As in SystemLoop, posts may change it.
  Nanoseconds Resumes() { return served_ + Pauses().After(work_per_round); }

  void ServeRound() {
    if (now_ < Resumes()) {
      now_ = Resumes();
      ++pauses_met;
    }
    RunTimers();
    std::vector<Task> tasks;
    tasks.swap(ready_);
    for (const Task& task : tasks) task();
    RunPosted();
    served_ = now_;
    ++rounds;
  }

  void RunTimers() {
    while (!timers_.empty() && timers_.begin()->first.first <= now_) {
      timers_.extract(timers_.begin()).mapped()();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Task> posted_;  // under mutex_
  std::vector<Task> ready_;
  std::map<std::pair<Nanoseconds, TimerId>, Task> timers_;
  Nanoseconds now_{0};
  Nanoseconds served_{0};  // the end of the last round
  TimerId next_ = 1;
};

}  // namespace berth::net

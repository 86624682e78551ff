// SystemLoop over Boost.Asio: one io_context, run by one thread.
//
// Posts are gathered: however many come before the loop looks, it is woken once. Timers live in a
// heap of our own under one asio timer, because most of them (request deadlines) are cancelled
// long before they are due: cancelling forgets the task and leaves its heap entry to be dropped.
//
// Under load the loop looks at its sockets every kRound instead of at every packet: one wake-up,
// one read and one write then serve many requests. What comes after a quiet time, and what follows
// from it, is served at once.
#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#define BOOST_ASIO_NO_DEPRECATED
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/random.h"
#include "kube/loop.h"

namespace berth::kube {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr Nanoseconds kRound = std::chrono::milliseconds(2);

uint64_t Seed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    seed = static_cast<uint64_t>(SteadyClock::now().time_since_epoch().count());
  }
  return seed;
}

class AsioLoop final : public SystemLoop {
 public:
  AsioLoop() : io_(1), timer_(io_), random_(Seed()) {}

  void Post(Task task) override {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = posted_.empty();
      posted_.push_back(std::move(task));
    }
    if (first) asio::post(io_, [this] { RunPosted(); });
  }

  TimerId After(Nanoseconds delay, Task task) override {
    const TimerId id = next_timer_++;
    // A delay of centuries must not wrap around.
    const Nanoseconds due = Steady() + std::clamp(delay, Nanoseconds(0), kForever);
    timers_.emplace(id, std::move(task));
    heap_.push_back({due, id});
    std::push_heap(heap_.begin(), heap_.end(), Later);
    if (heap_.front().id == id) Arm();
    return id;
  }

  void Cancel(TimerId timer) override {
    if (timers_.erase(timer) == 0) return;
    if (heap_.size() > 64 && heap_.size() > 2 * timers_.size()) DropDeadEntries();
  }

  api::Time Now() const override {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return api::Time::FromUnixNano(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
  }
  Nanoseconds Steady() const override {
    return std::chrono::duration_cast<Nanoseconds>(SteadyClock::now().time_since_epoch());
  }
  double Random() override {
    return static_cast<double>(random_.Below(uint64_t{1} << 53)) * 0x1p-53;
  }

  void Run() override {
    const auto work = asio::make_work_guard(io_);
    Nanoseconds last{0};  // round
    while (io_.run_one() > 0) {
      io_.poll();
      const Nanoseconds rest = last + kRound - Steady();
      if (rest.count() > 0 && !io_.stopped()) std::this_thread::sleep_for(rest);
      last = Steady();
    }
  }
  void Stop() override { io_.stop(); }
  void* Native() override { return &io_; }

 private:
  struct Entry {
    Nanoseconds due;
    TimerId id;
  };
  static constexpr Nanoseconds kForever = std::chrono::hours(24 * 365 * 50);

  // Equal times run in the order they were asked for.
  static bool Later(const Entry& a, const Entry& b) {
    return std::pair(a.due, a.id) > std::pair(b.due, b.id);
  }

  void RunPosted() {
    {
      const std::lock_guard lock(mutex_);
      std::swap(posted_, running_);
    }
    for (Task& task : running_) {
      task();
      task = nullptr;
    }
    running_.clear();
  }

  void Arm() {
    const Nanoseconds due = heap_.front().due;
    timer_.expires_at(
        SteadyClock::time_point(std::chrono::duration_cast<SteadyClock::duration>(due)));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) RunDue();
    });
  }

  void RunDue() {
    const Nanoseconds now = Steady();
    while (!heap_.empty()) {
      const Entry top = heap_.front();
      const auto found = timers_.find(top.id);
      if (found != timers_.end() && top.due > now) break;
      std::pop_heap(heap_.begin(), heap_.end(), Later);
      heap_.pop_back();
      if (found == timers_.end()) continue;
      const Task task = std::move(found->second);
      timers_.erase(found);
      task();
    }
    if (!heap_.empty()) Arm();
  }

  void DropDeadEntries() {
    std::erase_if(heap_, [this](const Entry& entry) { return !timers_.contains(entry.id); });
    std::make_heap(heap_.begin(), heap_.end(), Later);
  }

  asio::io_context io_;
  asio::steady_timer timer_;
  berth::Random random_;
  std::mutex mutex_;
  std::vector<Task> posted_;   // under mutex_
  std::vector<Task> running_;  // being run: kept for its memory
  std::unordered_map<TimerId, Task> timers_;
  std::vector<Entry> heap_;
  TimerId next_timer_ = 1;
};

}  // namespace

std::unique_ptr<SystemLoop> MakeSystemLoop() { return std::make_unique<AsioLoop>(); }

}  // namespace berth::kube

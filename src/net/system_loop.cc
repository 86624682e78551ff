// SystemLoop over Boost.Asio: one io_context, run by one thread.
//
// Posts are gathered: however many come before the loop looks, it is woken once. Timers live in a
// heap of our own under one asio timer, because most of them (request deadlines) are cancelled
// long before they are due: cancelling forgets the task and leaves its heap entry to be dropped.
//
// The loop works in rounds: all that is ready, then perhaps a pause (pause_policy.h) in which
// sockets and timers are left alone, so that one wake-up, one read and one write serve many
// requests. What other threads post runs in a pause too. A connection that has emptied its socket
// reads again in the next round: a peer that sends without a break must not make one long round of
// it, packet by packet.
#include <sys/random.h>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#define BOOST_ASIO_NO_DEPRECATED
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/random.h"
#include "net/loop.h"

namespace berth::net {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

Nanoseconds ReadClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

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
    bool pausing = false;
    {
      const std::lock_guard lock(mutex_);
      first = posted_.empty();
      pausing = pausing_;
      posted_.push_back(std::move(task));
    }
    if (!first) return;
    pausing ? wake_.notify_one() : PostRunPosted();
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
    return api::Time::FromUnixNano(ReadClock(CLOCK_REALTIME).count());
  }
  Nanoseconds Steady() const override {
    return std::chrono::duration_cast<Nanoseconds>(SteadyClock::now().time_since_epoch());
  }
  double Random() override {
    return static_cast<double>(random_.Below(uint64_t{1} << 53)) * 0x1p-53;
  }

  void Run() override {
    const auto guard = asio::make_work_guard(io_);
    Nanoseconds worked = ReadClock(CLOCK_THREAD_CPUTIME_ID);
    while (BeginRound() > 0) {
      io_.poll();
      Nanoseconds work{0};  // of this round
      if (!Pauses().FollowsBacklog()) {
        const Nanoseconds before = std::exchange(worked, ReadClock(CLOCK_THREAD_CPUTIME_ID));
        work = worked - before;
      }
      PauseAfter(work);
    }
  }
  void Stop() override {
    io_.stop();  // first: who wakes from a pause finds it stopped
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_one();
  }
  void NextRound(Task task) override { put_off_.push_back(std::move(task)); }
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

  // Waits for something to do, and does the first thing. 0: the loop is stopped.
  size_t BeginRound() {
    std::swap(put_off_, beginning_);
    for (const Task& task : beginning_) task();
    beginning_.clear();
    return io_.run_one();
  }

  // The pause after a round with so much work. Runs what is posted meanwhile, which may change the
  // pause's length; sockets and timers wait.
  void PauseAfter(Nanoseconds work) {
    if (Pauses().After(work).count() == 0) return;
    const Nanoseconds began = Steady();
    const auto end = [&] { return began + Pauses().After(work); };
    std::unique_lock lock(mutex_);
    pausing_ = true;
    while (wake_.wait_until(lock, At(end()), [this] { return stopped_ || !posted_.empty(); }) &&
           !stopped_ && Steady() < end()) {
      lock.unlock();
      RunPosted();
      lock.lock();
    }
    pausing_ = false;
    const bool left = !posted_.empty();
    lock.unlock();
    if (left) PostRunPosted();
  }

  void PostRunPosted() {
    asio::post(io_, [this] { RunPosted(); });
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

  static SteadyClock::time_point At(Nanoseconds time) {
    return SteadyClock::time_point(std::chrono::duration_cast<SteadyClock::duration>(time));
  }

  void Arm() {
    timer_.expires_at(At(heap_.front().due));
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
  std::condition_variable wake_;
  bool pausing_ = false;  // under mutex_, and the next two
  bool stopped_ = false;
  std::vector<Task> posted_;
  std::vector<Task> running_;    // being run: kept for its memory
  std::vector<Task> put_off_;    // until the next round
  std::vector<Task> beginning_;  // those of this round: kept for its memory
  boost::unordered_flat_map<TimerId, Task> timers_;
  std::vector<Entry> heap_;
  TimerId next_timer_ = 1;
};

}  // namespace

std::unique_ptr<SystemLoop> MakeSystemLoop() { return std::make_unique<AsioLoop>(); }

}  // namespace berth::net

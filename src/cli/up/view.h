// View: what `berth up` shows while it runs. On a terminal a few lines that are redrawn while the
// process is in the foreground, elsewhere a line when something has changed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "scheduler/engine.h"

namespace berth::cli::up {

// How the cluster is, at one moment.
struct Snapshot {
  size_t nodes = 0;
  size_t ready_nodes = 0;
  size_t pods = 0;
  size_t pending = 0;
  size_t running = 0;
  uint64_t requests = 0;

  bool operator==(const Snapshot&) const = default;
};

// Listens to the engine's decisions, and times them. Written on the engine's thread, read on
// another.
class Decisions : public berth::scheduler::EngineObserver {
 public:
  using PodRef = berth::scheduler::PodRef;
  using Point = framework::Point;
  using PointTimes = berth::scheduler::PointTimes;

  void Attempted(const cluster::Pod& pod, berth::scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void Bound(const berth::scheduler::PodRef& pod, std::string_view node,
             const queue::QueuedPod& info, const api::Time& now, bool watched) override;

  struct State {
    uint64_t bound = 0;
    uint64_t failed = 0;
    std::deque<std::string> last;
  };
  State Take() const;

  // --- How long it takes
  berth::scheduler::CycleInterest CycleBegan(const cluster::Pod& pod, std::string_view profile,
                                             uint8_t profile_number) override;
  void PointBegan(Point point) override;
  void PointEnded(Point point, framework::Code code) override;
  void StartedOver() override { times_.KeepOnly(Point::kPreFilter); }
  void BindingPointBegan(const PodRef& pod, Point point) override;
  void BindingPointEnded(const PodRef& pod, Point point, framework::Code code) override;
  const PointTimes* CycleTimes() override { return &times_; }
  const PointTimes* BindingTimes(const PodRef& pod) override;

 private:
  struct Bind {
    int64_t began_ns = 0;
    PointTimes times;
  };
  void Note(std::string line);

  PointTimes times_;  // of the cycle that runs
  int64_t began_ns_ = 0;
  boost::unordered_flat_map<std::string, Bind> binding_;  // by uid

  mutable std::mutex mutex_;
  State state_;
};

class View {
 public:
  View(FILE* out, bool terminal) : out_(out), terminal_(terminal) {}

  // `seconds` since the last call.
  void Show(const Snapshot& snapshot, const Decisions::State& decisions, double seconds);

 private:
  size_t Width() const;
  // Whether the terminal is another program's: this one runs in the background.
  bool Background() const;

  FILE* out_;
  bool terminal_;
  std::vector<size_t> drawn_;  // letters of the lines drawn the last time
  uint64_t bound_before_ = 0;
  Snapshot before_;
  bool first_ = true;
};

}  // namespace berth::cli::up

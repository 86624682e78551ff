// TimeMachine: the engine of a recording at any moment of it. Forward it plays on, backward it
// plays the run again from its beginning.
//
// Threads: the engine lives on a thread of the machine's own; every method may be called from any
// thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/codec/schema.h"
#include "base/error.h"
#include "cli/plugins.h"
#include "config/config.h"
#include "record/player.h"
#include "record/segment_files.h"

namespace berth::cli {

// GET /apis/replay/v1/timeline.
struct Timeline {
  struct Run {
    int64_t run = 0;
    std::string from;
    std::string to;

    static const api::TypeInfo& Type();
  };

  std::string from;  // of the first run
  std::string to;    // when the last block of the last one begins
  std::string at;    // the moment that is shown; while it moves, the one that is wanted
  int64_t run = 0;
  int64_t sequence = 0;  // of the last record that was played
  bool moving = false;
  double done = 1;        // of a move: 0 to 1
  int64_t moves = 0;      // that have ended
  bool observed = false;  // recorded without scheduling
  bool redacted = false;
  std::string trouble;  // why it goes no further
  std::vector<Run> runs;
  std::vector<int64_t> activity;  // records per part of the time, of equal lengths

  static const api::TypeInfo& Type();
};

class TimeMachine {
 public:
  static constexpr size_t kActivityParts = 160;

  // Fails when the first engine cannot be made. Stands nowhere until MoveTo.
  static Result<std::unique_ptr<TimeMachine>> Make(std::vector<record::RunFiles> runs,
                                                   const Plugins& plugins);
  // Tasks that wait are dropped.
  ~TimeMachine();

  // The newest wish counts.
  void MoveTo(int64_t time_ns);
  // As MoveTo, to the next scheduling cycle after the moment, or to the next change of a recording
  // without scheduling.
  void MoveToNextCycle();
  // Runs a task on the machine's thread, when the moment wanted is reached.
  void Do(std::function<void(scheduler::Engine&)> task);

  Timeline Look() const;
  // Of the moment, Unix, in nanoseconds.
  int64_t Now() const;
  uint32_t Run() const;
  // There is an engine, or will be.
  bool Ready() const;
  int64_t Begin() const { return from_ns_; }
  int64_t End() const { return to_ns_; }
  // Of the first engine.
  const config::KubeSchedulerConfiguration& Config() const { return config_; }
  const config::Behaviour& Behaviour() const { return behaviour_; }

 private:
  // A wish: a time, or the next cycle.
  struct Target {
    std::optional<int64_t> time_ns;
  };
  // One run that is being played.
  struct Cursor {
    Cursor(const record::RunFiles& run, record::PlayOptions options)
        : number(run.number), reader(run), player(reader, std::move(options)) {}
    const uint32_t number;
    record::RunReader reader;
    record::Player player;
  };

  TimeMachine(std::vector<record::RunFiles> runs, const Plugins& plugins);
  Result<void> ReadRuns();
  void Work();
  void Move(const Target& target);
  const record::RunFiles& RunAt(int64_t time_ns) const;
  // False: a newer wish has come.
  bool PlayUntil(int64_t time_ns);
  bool PlayCycle();
  bool Interrupted();
  void Note(bool moving);

  const std::vector<record::RunFiles> runs_;
  const Plugins& plugins_;
  std::vector<int64_t> begins_;  // of the runs
  int64_t from_ns_ = 0;
  int64_t to_ns_ = 0;
  config::KubeSchedulerConfiguration config_;
  config::Behaviour behaviour_;
  Timeline fixed_;  // what does not change

  // The thread's.
  std::unique_ptr<Cursor> cursor_;
  int64_t at_ns_ = 0;

  mutable std::mutex mutex_;  // of the next
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<Target> target_;
  std::deque<std::function<void(scheduler::Engine&)>> tasks_;
  Timeline now_;  // what changes
  int64_t now_ns_ = 0;
  bool has_engine_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace berth::cli

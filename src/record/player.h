// Playing a run: an equal engine gets the recorded inputs again, and its decisions are compared
// with the recorded digests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/run_reader.h"
#include "scheduler/engine.h"

namespace berth::record {

// Where something happened.
struct Moment {
  uint64_t sequence = 0;  // of the record
  int64_t time_ns = 0;    // Unix, of the engine
};

// Sees what is played. Does nothing unless overridden. What it does to the engine must not change
// decisions.
class PlayObserver {
 public:
  virtual ~PlayObserver() = default;
  // Before `engine` gets the record; null: there is none yet. False: no further.
  virtual bool Playing(const Moment&, const Record&, scheduler::Engine* /*engine*/) { return true; }
  // After the last record; null: there was no engine.
  virtual void Ended(scheduler::Engine* /*engine*/) {}
  // The engine has decided so, and the recording agrees.
  virtual void Decided(const Moment&, const scheduler::Effect&) {}
};

struct PlayOptions {
  // Out-of-tree plugins that the recorded engines may have had.
  std::vector<scheduler::ExtraPlugin> extra_plugins = {};
  std::optional<int64_t> until_ns;   // what came later is left out
  PlayObserver* observer = nullptr;  // may be null
};

struct PlayOutcome {
  uint64_t records = 0;
  uint64_t engines = 0;
  uint64_t steps = 0;      // scheduling cycles
  uint64_t decisions = 0;  // effects that were compared
  uint64_t bindings = 0;
  int64_t first_time_ns = 0;
  int64_t last_time_ns = 0;
  bool closed = false;         // the recording was closed in good order
  bool reached_until = false;  // there is more
  bool interrupted = false;    // by the observer
  bool redacted = false;       // names are pseudonyms
  bool observed = false;       // another scheduler decided; nothing is compared
  // The engine decided something else than recorded.
  std::string divergence;
  // The recording is damaged or cannot be played here.
  std::string trouble;
  Moment stopped;  // where one of these was found

  bool Same() const { return divergence.empty() && trouble.empty(); }
};

// Plays one record after the other, as far as its owner wants.
class Player {
 public:
  // `reader` and the observer outlive the player.
  Player(RunReader& reader, PlayOptions options);
  ~Player();

  // The record that Next would play; nothing: there is none.
  std::optional<Moment> Peek();
  // False: no further, because of the end, `until_ns`, damage, the observer or a decision that
  // differs. Nothing follows then.
  bool Next();
  // Null: none was made yet.
  scheduler::Engine* GetEngine();
  // Of what was played up to now; `stopped` is left out.
  const PlayOutcome& Outcome() const;

 private:
  friend PlayOutcome Play(RunReader& reader, const PlayOptions& options);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Plays up to the end, `until_ns`, damage or the first decision that differs.
PlayOutcome Play(RunReader& reader, const PlayOptions& options);

// What the engine of a Begin record was made with, besides its configuration. Fails as MakeEngine
// does.
Result<scheduler::EngineOptions> EngineOptionsOf(
    const Begin& begin, const std::vector<scheduler::ExtraPlugin>& extra_plugins);
// The engine that a Begin record describes. Fails for versions and plugins that are unknown here.
Result<std::unique_ptr<scheduler::Engine>> MakeEngine(
    const Begin& begin, const std::vector<scheduler::ExtraPlugin>& extra_plugins);

// "bind default/web to node-1".
std::string Describe(const scheduler::Effect& effect);

}  // namespace berth::record

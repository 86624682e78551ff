// Network: what lies between the scheduler and the API server, and how well it works.
//
// EngineHost asks it about every request and every watch event. This one is a good day: small
// constant delays, nothing lost. Others derive from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/effects.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

// What becomes of a request.
struct Fate {
  enum class Kind : uint8_t {
    kAnswered,     // carried out, or refused by the API server's own rules; the answer arrives
    kRefused,      // answered with `code`, and surely not carried out
    kRequestLost,  // not carried out, no answer
    kAnswerLost,   // carried out, no answer
  };
  Kind kind = Kind::kAnswered;
  int code = 500;                             // kRefused: 404, 409, or anything else that failed
  Nanos request_delay = 5 * kMillisecond;     // until it is carried out
  Nanos answer_delay = 5 * kMillisecond;      // until the answer arrives, or is given up
  std::optional<Nanos> again = std::nullopt;  // the answer comes a second time, so much later
};

class Network {
 public:
  virtual ~Network() = default;

  virtual Fate FateOf(const scheduler::Effect&) { return {}; }
  // How long a watch event of `kind` takes. Events of one kind never overtake each other.
  virtual Nanos WatchDelay(std::string_view /*kind*/) { return 5 * kMillisecond; }
  // Does the event come twice in a row?
  virtual bool RepeatsEvent(std::string_view /*kind*/) { return false; }
  // Asked at every event: does the watch break now? Then all that is under way is lost, and after
  // this time the kind is listed anew.
  virtual std::optional<Nanos> WatchBreaks(std::string_view /*kind*/) { return std::nullopt; }
  // In which order the first lists arrive.
  virtual void OrderLists(std::vector<std::string_view>& /*kinds*/) {}
  // The scheduler crashes while a request is under way: does the request still arrive?
  virtual bool ArrivesDespiteCrash(const scheduler::Effect&) { return true; }
  // How long the scheduler takes for one scheduling cycle.
  virtual Nanos CycleTime() { return kMillisecond; }
};

}  // namespace berth::sim

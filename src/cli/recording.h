// Recording: what --record-dir asks for: the recorder, its files and its metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "config/feature_gates.h"
#include "net/loop.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "scheduler/tap.h"
#include "server/metrics/registry.h"

namespace berth::cli {

struct RecordingOptions {
  std::string dir;  // empty: nothing is recorded
  uint64_t max_bytes = uint64_t{2} << 30;
  bool redact = false;       // names, labels, images and so on are replaced
  bool out_of_tree = false;  // plugins are loaded; nothing can be redacted with them
  bool observed = false;     // another scheduler decides
};

// Of --record-max-bytes.
Result<int64_t> ParseRecordBytes(const std::string& text);

class Recording {
 public:
  // Begins another run in the directory. `gates`: of the first engine. `metrics` outlives what
  // collects from it.
  static Result<std::unique_ptr<Recording>> Open(const RecordingOptions& options,
                                                 const config::FeatureGates& gates,
                                                 server::Registry& metrics);
  // Closes the run in good order. REQUIRES: the tap is used no more.
  ~Recording();

  // For SchedulerHostOptions::tap.
  berth::scheduler::EngineTap& Tap() { return *recorder_; }
  record::Recorder& Recorder() { return *recorder_; }
  // From now on `renew` is called when the run is large enough to be followed by another, and when
  // the recording can go on after the disk was full or too slow; another engine is made then. On
  // the loop's thread; `loop` is stopped before this is destroyed.
  void Follow(net::Loop& loop, std::function<void()> renew);
  // Engines with the behaviour of `gates` may follow. From any thread.
  void Allow(const config::FeatureGates& gates) { recorder_->Allow(gates); }
  // From any thread. False: it has ended before its time, and no other run has begun yet.
  bool Active() const { return !sink_->HasEnded(); }
  uint32_t Run() const { return sink_->Run(); }
  uint64_t WrittenBytes() const { return sink_->WrittenBytes(); }

 private:
  Recording() = default;
  void FollowOn(net::Loop& loop);
  void Look(net::Loop& loop);

  std::function<void()> renew_;

  net::Nanoseconds pause_{};      // between two requests for another run
  net::Nanoseconds next_look_{};  // not before
  std::unique_ptr<record::DirectorySink> sink_;
  std::unique_ptr<record::Recorder> recorder_;
};

}  // namespace berth::cli

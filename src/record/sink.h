// Sink: where a recorder's blocks go.
#pragma once

#include <cstdint>
#include <string>

namespace berth::record {

// Records that follow each other.
struct Batch {
  uint64_t first_sequence = 0;
  uint64_t count = 0;
  int64_t first_time_ns = 0;  // Unix
  int64_t last_time_ns = 0;
  std::string records;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Never waits. False: the recording has ended, here or earlier; nothing more is kept.
  virtual bool Put(Batch&& batch) = 0;
  // The recorder cannot go on: nothing follows until another run is started.
  virtual void End(const std::string& reason) = 0;

  // True: the next engine should begin a run of its own, because this one has ended or is large
  // enough. From any thread.
  virtual bool WantsRun() const { return false; }
  // What is put from now on belongs to another run, whose records count from 1. Never waits. Also
  // after the end. Called when WantsRun(), or when the recorder wants a run.
  virtual void StartRun() {}
};

}  // namespace berth::record

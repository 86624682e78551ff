// DirectorySink: writes a recording into a directory.
//
// Every start of the scheduler begins another run, which can be replayed by itself. The directory
// is a ring of runs: the oldest are removed to free space for the one at work, which should be
// followed by another once it has half of the limit. It ends when it reaches the limit alone, or
// when the disk is full or too slow; another run can follow later.
#pragma once

#include <atomic>
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

#include "base/error.h"
#include "record/segment_files.h"
#include "record/sink.h"

namespace berth::record {

struct DirectoryOptions {
  std::string dir;
  uint64_t max_bytes = uint64_t{2} << 30;       // of all files together
  uint64_t segment_bytes = uint64_t{64} << 20;  // after which a segment is followed by the next
  // Bytes before compression that may wait for the disk; with more it is too slow.
  uint64_t waiting_bytes = uint64_t{64} << 20;
};

// Compresses and writes on a thread of its own. Files are readable by their owner only: they hold
// specs of pods.
class DirectorySink final : public Sink {
 public:
  // Called once per run that ended before its time, with the reason. On any thread.
  using Ended = std::function<void(const std::string& reason)>;
  // Called with the number of every run after the first. On the sink's thread.
  using Began = std::function<void(uint32_t run)>;

  // Makes the directory if need be, and the first segment of another run.
  static Result<std::unique_ptr<DirectorySink>> Open(DirectoryOptions options, Ended ended,
                                                     Began began = nullptr);
  // Writes what waits.
  ~DirectorySink() override;

  bool Put(Batch&& batch) override;
  void End(const std::string& reason) override;
  bool WantsRun() const override;
  void StartRun() override;

  // The rest from any thread.
  uint32_t Run() const { return run_.load(std::memory_order_relaxed); }
  uint64_t WrittenBytes() const { return written_.load(std::memory_order_relaxed); }
  bool HasEnded() const { return ended_early_.load(std::memory_order_relaxed); }
  // After an early end: the disk has taken what waited, and has free space.
  bool CanResume() const;

 private:
  // A null batch: another run begins.
  using Item = std::optional<Batch>;

  DirectorySink(DirectoryOptions options, Ended ended, Began began);
  Result<void> Start();
  Result<void> OpenFirst();
  Result<void> OpenSegment(SegmentId id, bool* exists = nullptr);
  void Work();
  Result<void> Do(const Item& item);
  Result<void> BeginRun();
  Result<void> Write(const Batch& batch);
  // Removes old runs until `more` bytes fit into the limit. False: they do not.
  bool FreeSpaceFor(uint64_t more);
  void Wrote(uint64_t bytes);

  const DirectoryOptions options_;
  const Ended ended_callback_;
  const Began began_callback_;
  std::atomic<uint32_t> run_ = 0;

  // The thread's, and before it runs the maker's.
  std::vector<RunFiles> old_runs_;
  uint64_t old_bytes_ = 0;
  RunFiles current_;  // the run at work; its last segment's size is segment_size_
  int file_ = -1;
  uint64_t segment_size_ = 0;

  mutable std::mutex mutex_;  // of the next
  std::condition_variable wake_;
  std::deque<Item> waiting_;
  uint64_t waiting_bytes_ = 0;
  bool closing_ = false;
  bool ended_ = false;

  std::atomic<uint64_t> run_bytes_ = 0;  // of the run at work
  std::atomic<uint64_t> written_ = 0;    // of all runs
  std::atomic<bool> ended_early_ = false;
  std::thread thread_;
};

}  // namespace berth::record

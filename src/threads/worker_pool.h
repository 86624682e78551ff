// WorkerPool: an Executor on threads, for wide scans of very large clusters.
//
// The calling thread runs parts itself and, when none is left, waits only for parts that a helper
// has already claimed. It never waits for a helper to wake up, so a busy machine costs no time
// slice.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/points/executor.h"

namespace berth::threads {

class WorkerPool final : public framework::Executor {
 public:
  // `width` threads in all, the caller's included.
  explicit WorkerPool(size_t width);
  ~WorkerPool() override;

  size_t Width() const override { return threads_.size() + 1; }
  void Run(size_t count, FunctionRef<void(size_t)> part) override;

 private:
  // One call of Run. Helpers hold a reference through `users`, so it cannot be destroyed under
  // them.
  struct Job {
    FunctionRef<void(size_t)>* part = nullptr;
    size_t count = 0;
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};
  };
  void Help();
  static void Work(Job& job);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job job_;
  size_t generation_ = 0;
  size_t users_ = 0;  // helpers inside Work
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::threads

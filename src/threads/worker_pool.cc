#include "threads/worker_pool.h"

namespace berth::threads {

WorkerPool::WorkerPool(size_t width) {
  for (size_t i = 1; i < width; ++i) threads_.emplace_back([this] { Help(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Work(Job& job) {
  for (;;) {
    const size_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    (*job.part)(i);
    job.done.fetch_add(1, std::memory_order_release);
  }
}

void WorkerPool::Run(size_t count, FunctionRef<void(size_t)> part) {
  {
    // A helper that woke late may still be looking at the last job; it finds nothing to do there
    // and leaves.
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return users_ == 0; });
    job_.part = &part;
    job_.count = count;
    job_.next.store(0, std::memory_order_relaxed);
    job_.done.store(0, std::memory_order_relaxed);
    ++generation_;
  }
  wake_.notify_all();
  Work(job_);
  while (job_.done.load(std::memory_order_acquire) < count) std::this_thread::yield();
}

void WorkerPool::Help() {
  size_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    ++users_;
    lock.unlock();
    Work(job_);
    lock.lock();
    if (--users_ == 0) idle_.notify_all();
  }
}

}  // namespace berth::threads

#include "replicas/replica_loop.h"

#include <algorithm>
#include <utility>

namespace berth::replicas {

net::Loop::TimerId ReplicaLoop::After(net::Nanoseconds delay, Task task) {
  // A timer never runs before its time by the replica's own clock.
  const int64_t local = std::max<int64_t>(delay.count(), 0);
  return RunAfter(local == 0 ? 0 : local * 1000 / rate_ + 1, std::move(task));
}

net::Loop::TimerId ReplicaLoop::RunAfter(sim::Nanos true_delay, Task task) {
  const TimerId id = next_++;
  tasks_.emplace(id, std::move(task));
  world_.After(std::max<sim::Nanos>(true_delay, 0), [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->Due(id);
  });
  return id;
}

void ReplicaLoop::Due(TimerId id) {
  if (paused_) {
    held_.push_back(id);
    return;
  }
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const Task task = std::move(found->second);
  tasks_.erase(found);
  task();
}

void ReplicaLoop::Resume() {
  paused_ = false;
  for (const TimerId id : std::exchange(held_, {})) {
    world_.After(0, [weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) self->Due(id);
    });
  }
}

}  // namespace berth::replicas

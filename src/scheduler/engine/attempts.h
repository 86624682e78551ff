// Attempts: scheduling cycles, from Pop to Permit, and what follows when one fails.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/attempt.h"
#include "scheduler/engine/context.h"

namespace berth::queue {
class GroupedQueue;
}

namespace berth::scheduler {

class Batching;
class GroupAttempts;

class Attempts {
 public:
  explicit Attempts(EngineContext& context);
  ~Attempts();

  // Where OpportunisticBatching applies to pods of a profile, they are batched from now on.
  void FollowBatching(const config::KubeSchedulerConfiguration& config);
  // The queue has pod groups, whose cycles are run too.
  void FollowGroups(queue::GroupedQueue& queue);
  // Null: pods are scheduled one by one.
  GroupAttempts* groups() const { return groups_.get(); }

  // Runs one cycle, of a pod or a group. False: none can be tried now.
  bool Step();
  // True: the pod is not to be tried; it has left the queue.
  bool Skips(PodId id);
  // The observer is notified that the cycle begins, and of its decision.
  void TellBegan(const cluster::Pod& pod, ProfileRuntime& runtime);
  void TellDecided(const cluster::Pod& pod, ProfileRuntime& runtime, const Decision& decision);
  // The same as TellBegan of a cycle whose points are not timed.
  void TellPassedOver(const cluster::Pod& pod, ProfileRuntime& runtime);
  // The decision is made: carries it out.
  void Conclude(PodId id, ProfileRuntime& runtime);
  // Assumes the pod on the node, asks for permission and begins to bind it. REQUIRES: attempt() has
  // that decision.
  void Commit(PodId id, ProfileRuntime& runtime, NodeIndex node);
  // The PostFilter plugins have answered.
  void FinishNoFit(PodId id, ProfileRuntime& runtime, const framework::Status& status,
                   const framework::PostFilterResult& result);
  // Queues the pod again; the API server and the user learn why.
  void Fail(PodId id, const Failure& failure);

  Algorithm& algorithm() { return algorithm_; }
  Attempt& attempt() { return attempt_; }
  const CycleInterest& interest() const { return interest_; }

 private:
  void Try(PodId id);
  void Decide(PodId id, ProfileRuntime& runtime);
  void NoFit(PodId id, ProfileRuntime& runtime);
  void DecideInBatch(Batching& batching, PodId id, ProfileRuntime& runtime);
  void TellBatching(const ProfileRuntime& runtime);
  Batching* BatchingOf(const ProfileRuntime& runtime) const;
  void ReportFilterErrors(const framework::Cycle& cycle);
  void TellFailed(const cluster::Pod& pod, framework::Point point, NodeIndex node,
                  const framework::Status& status);
  void TakeBack(PodId id, ProfileRuntime& runtime, framework::Point point,
                const framework::Status& status);
  void Requeue(PodId id, const Failure& failure);
  void PatchFailure(PodId id, const Failure& failure);
  void Nominate(PodId id, const Failure& failure);
  void LogFailure(const cluster::Pod& pod, int32_t attempts, const Failure& failure);
  // How long the points of the cycle took, as the observer has timed them.
  void LogCycleTimes();

  EngineContext& c_;
  Algorithm algorithm_;
  Attempt attempt_;             // of the cycle that runs
  CycleInterest interest_;      // of the cycle that runs
  int64_t cycle_began_ns_ = 0;  // by the observer's clock
  int32_t planted_ = 0;         // how often a planted bug could have struck
  uint64_t cycles_ = 0;         // pods and groups that were taken from the queue
  std::vector<std::unique_ptr<Batching>> batching_;  // by profile; null: pods are not batched
  std::unique_ptr<GroupAttempts> groups_;
};

}  // namespace berth::scheduler

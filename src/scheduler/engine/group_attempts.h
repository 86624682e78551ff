// GroupAttempts: scheduling cycles of pod groups, and what follows when one fails
// (Kubernetes 1.37).
//
//   Pop ─▶ validation ─▶ GroupAlgorithm ─▶ each pod: Reserve, Permit, binding ─▶ condition,
//   EndAttempt
//                              └─▶ preemption ─▶ each pod: queued again ──────────────┘
//
// Exists where groups are scheduled (Behaviour::pod_groups); reached through Attempts. A cycle is
// over when Try returns, with two exceptions: it waits for extenders, whose answers make it run
// again from its start, and without async preemption until the victims are on their way. No other
// pod is tried before that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "queue/grouped_queue.h"
#include "scheduler/engine/context.h"
#include "scheduler/groups/group_algorithm.h"

namespace berth::scheduler {

class GroupAttempts final : private MemberDecider {
 public:
  // `queue` is the context's.
  GroupAttempts(EngineContext& context, queue::GroupedQueue& queue) : c_(context), queue_(queue) {}

  // Runs the cycle of a group that Pop has returned.
  void Try(PodId group);
  // The extenders that the cycle waits for have answered.
  void Resume();
  // The object of a group has come or gone, and the cluster has it so.
  void ObjectAdded(const api::PodGroup& object);
  void ObjectDeleted(const api::PodGroup& object);
  // The preemption that the cycle waited for is over. `failed`: a victim could not be deleted.
  void PreemptionOver(bool failed);

  const queue::GroupedQueue& queue() const { return queue_; }

 private:
  using ObjectPtr = std::shared_ptr<const api::PodGroup>;
  // A cycle that waits for its victims.
  struct Waiting {
    PodId group;
    ObjectPtr object;
    GroupResult result;
    std::vector<PodKey> pods;  // by position in result.members
  };

  // --- MemberDecider
  NodeIndex Decide(Attempt& attempt, const framework::NodeSet* within) override;
  bool RepeatsItself() const override;
  const MemberResult* Recall() override;
  void Remember(const MemberResult& member) override;

  void Run();
  bool AsksExtenders() const;
  std::string WhyNotTried(const api::PodGroup& object) const;
  void FailAll(PodId group, const api::PodGroup& object, const std::string& why);
  void Conclude(PodId group, const api::PodGroup& object, const GroupResult& result);
  void Commit(const MemberResult& member);
  void Fail(const MemberResult& member, const MemberOutcome& outcome);
  void WriteCondition(const api::PodGroup& object, const GroupCondition& condition);

  EngineContext& c_;
  queue::GroupedQueue& queue_;
  // Of the cycle that runs.
  PodId group_ = cluster::kNoPod;
  ObjectPtr object_;
  std::vector<PodId> members_;
  ProfileRuntime* runtime_ = nullptr;
  bool asks_extenders_ = false;
  std::vector<MemberResult> known_;  // with extenders: what pods have come to, in order
  size_t recalled_ = 0;              // of them, in this run

  std::optional<Waiting> waiting_;
  // Groups, by uid, whose condition was written as true: the watch may not show it yet.
  boost::unordered_flat_set<std::string> scheduled_;
  int32_t planted_ = 0;  // how often a planted bug could have struck
};

}  // namespace berth::scheduler

#include "scheduler/engine/group_attempts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster/objects/adopted_groups.h"
#include "cluster/objects/object_store.h"
#include "framework/points/group_search.h"
#include "scheduler/engine/attempts.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/preemptions.h"
#include "scheduler/groups/validation.h"

namespace berth::scheduler {
namespace {

using Nomination = framework::PostFilterResult::Nomination;

constexpr std::string_view kInitiallyScheduled = "PodGroupInitiallyScheduled";

queue::GroupEnd EndOf(const GroupStatus& status) {
  if (status.Ok()) return queue::GroupEnd::kScheduled;
  return status.IsRejected() ? queue::GroupEnd::kRejected : queue::GroupEnd::kError;
}

GroupOutcome GroupOutcomeOf(const GroupResult& result) {
  if (result.status.Ok()) return GroupOutcome::kScheduled;
  if (!result.status.IsRejected()) return GroupOutcome::kError;
  return result.waits_for_preemption ? GroupOutcome::kWaitingOnPreemption
                                     : GroupOutcome::kUnschedulable;
}

Nomination NominationOf(MemberResult::Nomination nomination) {
  switch (nomination) {
    case MemberResult::Nomination::kKeep:
      return Nomination::kKeep;
    case MemberResult::Nomination::kSet:
      return Nomination::kSet;
    case MemberResult::Nomination::kClear:
      break;
  }
  return Nomination::kClear;
}

int64_t SearchStepsOf(const framework::Profile& profile) {
  for (const auto& plugin : profile.Plugins()) {
    const auto* search = dynamic_cast<const framework::GroupSearchPlugin*>(plugin.get());
    if (search != nullptr) return search->GroupSearchSteps();
  }
  return 0;
}

}  // namespace

// --- Objects

void GroupAttempts::ObjectAdded(const api::PodGroup& object) {
  queue_.GroupAdded(object.metadata.namespace_, object.metadata.name, c_.now);
}

void GroupAttempts::ObjectDeleted(const api::PodGroup& object) {
  queue_.GroupDeleted(object.metadata.namespace_, object.metadata.name);
  scheduled_.erase(object.metadata.uid);
}

// --- The cycle

void GroupAttempts::Try(PodId group) {
  const queue::GroupedQueue::Popped popped = queue_.PoppedGroup(group);
  const ObjectPtr object = c_.cluster.Objects().pod_groups.Share(popped.namespace_, popped.name);
  BERTH_DCHECK(object != nullptr);  // the pods of other groups are not queued
  members_.assign(popped.pods.begin(), popped.pods.end());
  runtime_ = &c_.runtimes[c_.pods.Of(members_.front()).profile];
  asks_extenders_ = AsksExtenders();
  if (c_.observer != nullptr) {
    c_.observer->GroupBegan(runtime_->profile->Name(), asks_extenders_);
  }
  if (const std::string why = WhyNotTried(*object); !why.empty()) {
    FailAll(group, *object, why);
    return;
  }
  std::erase_if(members_, [&](PodId id) { return c_.attempts->Skips(id); });
  if (members_.empty()) {
    queue_.EndAttempt(group, queue::GroupEnd::kScheduled, c_.now);
    return;
  }
  group_ = group;
  object_ = object;
  Run();
}

void GroupAttempts::Resume() {
  if (c_.observer != nullptr) c_.observer->GroupStartedOver();
  Run();
}

void GroupAttempts::Run() {
  recalled_ = 0;
  GroupAlgorithm algorithm(*runtime_->cycle, c_.cluster, *this);
  algorithm.set_watch(c_.observer);
  // A search would ask extenders again and again.
  if (!asks_extenders_) algorithm.set_search_steps(SearchStepsOf(*runtime_->profile));
  GroupResult result = algorithm.Run({*object_, members_});
  if (c_.extender_calls->Waiting()) return;
  known_.clear();
  const ObjectPtr object = std::move(object_);
  if (!result.preemption.victims.empty() &&
      c_.preemptions->StartGroupPreemption(*object, members_, result.preemption)) {
    waiting_ = Waiting{group_, object, std::move(result), {}};
    for (const MemberResult& member : waiting_->result.members) {
      waiting_->pods.push_back(c_.cluster.GetPod(member.pod).key());
    }
    return;
  }
  Conclude(group_, *object, result);
}

NodeIndex GroupAttempts::Decide(Attempt& attempt, const framework::NodeSet* within) {
  Attempts& attempts = *c_.attempts;
  const cluster::Pod& pod = c_.cluster.GetPod(attempt.pod());
  attempts.TellPassedOver(pod, *runtime_);
  if (asks_extenders_ && c_.extender_calls->AsksExtenders(pod.id)) {
    if (!c_.extender_calls->DecideMember(attempt, *runtime_, within)) return cluster::kNoNode;
  } else {
    attempt.Decide(attempts.algorithm(), attempts.interest().scores, within);
  }
  attempts.TellDecided(pod, *runtime_, attempt.decision());
  return attempt.decision().node;
}

bool GroupAttempts::RepeatsItself() const {
  return !asks_extenders_ && c_.attempts->algorithm().RepeatsItself(*runtime_->profile);
}

const MemberResult* GroupAttempts::Recall() {
  return recalled_ < known_.size() ? &known_[recalled_++] : nullptr;
}

void GroupAttempts::Remember(const MemberResult& member) {
  if (!asks_extenders_ || c_.extender_calls->Waiting()) return;
  known_.push_back(member);
  recalled_ = known_.size();
}

bool GroupAttempts::AsksExtenders() const {
  return !c_.extenders.Empty() && std::ranges::any_of(members_, [&](PodId id) {
    return c_.extender_calls->AsksExtenders(id);
  });
}

// Empty: nothing is wrong with the group.
std::string GroupAttempts::WhyNotTried(const api::PodGroup& object) const {
  const auto knows = [&](const std::string& name) {
    return std::ranges::any_of(c_.runtimes, [&](const ProfileRuntime& runtime) {
      return runtime.profile->Name() == name;
    });
  };
  return WhyInvalid(c_.cluster, {object, members_}, c_.options.behaviour, knows);
}

void GroupAttempts::FailAll(PodId group, const api::PodGroup& object, const std::string& why) {
  GroupResult result;
  result.status = result.before_post_filter = GroupStatus::Error(why);
  for (const PodId id : members_) {
    result.members.emplace_back().pod = id;
    result.members.back().status = result.status;
    Fail(result.members.back(), OutcomeOf(result, result.members.back()));
  }
  WriteCondition(object, ConditionOf(result));
  queue_.EndAttempt(group, queue::GroupEnd::kError, c_.now);
}

void GroupAttempts::PreemptionOver(bool failed) {
  Waiting waited = std::move(*waiting_);
  waiting_.reset();
  GroupResult& result = waited.result;
  if (failed) {
    result.status = GroupStatus::Error("pod group preemption: a victim could not be deleted");
  }
  std::vector<MemberResult> there;
  for (size_t i = 0; i < result.members.size(); ++i) {
    if (c_.cluster.FindPod(waited.pods[i]) == cluster::kNoPod) continue;
    there.push_back(std::move(result.members[i]));
  }
  result.members = std::move(there);
  Conclude(waited.group, *waited.object, result);
}

void GroupAttempts::Conclude(PodId group, const api::PodGroup& object, const GroupResult& result) {
  const bool splits = c_.options.planted_bug == PlantedBug::kSplitGang && !result.status.Ok() &&
                      ++planted_ % 3 == 0;
  const bool adopted = cluster::IsAdoptedGroup(object.metadata.name);
  for (const MemberResult& member : result.members) {
    MemberOutcome outcome = OutcomeOf(result, member);
    // As in kube-scheduler a pod of a group keeps its nomination even if its group fits no longer.
    // An adopted group holds nothing.
    const bool holds = result.waits_for_preemption || !adopted;
    if (!holds && !outcome.status.Ok()) outcome.nomination = MemberResult::Nomination::kClear;
    if (outcome.status.Ok() || (splits && member.status.Ok())) {
      Commit(member);
    } else {
      Fail(member, outcome);
    }
  }
  WriteCondition(object, ConditionOf(result));
  if (c_.observer != nullptr) {
    c_.observer->GroupAttempted(GroupOutcomeOf(result));
  }
  queue_.EndAttempt(group, EndOf(result.before_post_filter), c_.now);
}

// The plugins derive anew what they need to know of the pod: everything is as when its node was
// chosen.
void GroupAttempts::Commit(const MemberResult& member) {
  Attempt& attempt = c_.attempts->attempt();
  framework::Cycle& cycle = *runtime_->cycle;
  attempt.Begin(cycle, c_.cluster, member.pod);
  cycle.Begin(c_.cluster, c_.cluster.GetPod(member.pod));
  if (cycle.RunPreFilter().Ok()) cycle.FilterOne(member.node);
  Decision& decision = attempt.decision();
  decision.outcome = Outcome::kScheduled;
  decision.node = member.node;
  decision.diagnosis.num_all_nodes = member.nodes;
  decision.evaluated_nodes = member.evaluated;
  decision.feasible_count = member.feasible;
  decision.best_count = member.equal;
  decision.scored = member.scored;
  decision.total = member.total;
  attempt.Decided();
  c_.attempts->Commit(member.pod, *runtime_, member.node);
}

// --- Failure

void GroupAttempts::Fail(const MemberResult& member, const MemberOutcome& outcome) {
  const ProfileRuntime& runtime = c_.runtimes[c_.pods.Of(member.pod).profile];
  Failure failure;
  failure.of_group = true;
  failure.rejected = outcome.status.IsRejected();
  failure.message = outcome.status.Message();
  failure.nomination = NominationOf(outcome.nomination);
  failure.nominated_node = outcome.nominated_node;
  if (outcome.fit_error) {
    failure.unschedulable = runtime.MaskOf(member.unschedulable_plugins);
    failure.pending = runtime.MaskOf(member.pending_plugins);
  }
  c_.attempts->Fail(member.pod, failure);
}

// What is true of a group once stays: later cycles are about further pods.
void GroupAttempts::WriteCondition(const api::PodGroup& object, const GroupCondition& condition) {
  if (cluster::IsAdoptedGroup(object.metadata.name)) return;  // its API has no such condition
  if (condition.scheduled) {
    scheduled_.insert(object.metadata.uid);
  } else if (scheduled_.contains(object.metadata.uid)) {
    return;
  }
  PatchPodGroupStatus patch;
  api::Condition& wanted = patch.condition;
  wanted.type = kInitiallyScheduled;
  wanted.status = condition.scheduled ? "True" : "False";
  wanted.reason = condition.reason;
  wanted.message = condition.message;
  wanted.observed_generation = object.metadata.generation;
  wanted.last_transition_time = c_.now;
  for (const api::Condition& there : object.status.conditions) {
    patch.condition_types.push_back(there.type);
    if (there.type == kInitiallyScheduled) patch.old_condition = there;
  }
  if (const auto& old = patch.old_condition) {
    if (old->status == "True" && !condition.scheduled) return;
    if (old->status == wanted.status) wanted.last_transition_time = old->last_transition_time;
    if (*old == wanted) return;
  }
  patch.group = {object.metadata.namespace_, object.metadata.name, object.metadata.uid,
                 object.metadata.resource_version};
  c_.outbox.Emit(std::move(patch));
}

}  // namespace berth::scheduler

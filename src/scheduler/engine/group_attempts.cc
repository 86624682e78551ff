#include "scheduler/engine/group_attempts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster/objects/adopted_groups.h"
#include "cluster/objects/object_store.h"
#include "framework/points/group_search.h"
#include "scheduler/engine/attempts.h"
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
  if (const std::string why = WhyNotTried(*object); !why.empty()) {
    FailAll(group, *object, why);
    return;
  }
  std::erase_if(members_, [&](PodId id) { return c_.attempts->Skips(id); });
  if (members_.empty()) {
    queue_.EndAttempt(group, queue::GroupEnd::kScheduled, c_.now);
    return;
  }
  runtime_ = &c_.runtimes[c_.pods.Of(members_.front()).profile];
  GroupAlgorithm algorithm(*runtime_->cycle, c_.cluster, *this);
  algorithm.set_search_steps(SearchStepsOf(*runtime_->profile));
  GroupResult result = algorithm.Run({*object, members_});
  if (!result.preemption.victims.empty() &&
      c_.preemptions->StartGroupPreemption(*object, members_, result.preemption)) {
    waiting_ = Waiting{group, object, std::move(result), {}};
    for (const MemberResult& member : waiting_->result.members) {
      waiting_->pods.push_back(c_.cluster.GetPod(member.pod).key());
    }
    return;
  }
  Conclude(group, *object, result);
}

NodeIndex GroupAttempts::Decide(Attempt& attempt, const framework::NodeSet* within) {
  Attempts& attempts = *c_.attempts;
  const cluster::Pod& pod = c_.cluster.GetPod(attempt.pod());
  attempts.TellPassedOver(pod, *runtime_);
  attempt.Decide(attempts.algorithm(), attempts.interest().scores, within);
  attempts.TellDecided(pod, *runtime_, attempt.decision());
  return attempt.decision().node;
}

// Empty: nothing is wrong with the group. The cycle of a group is not interrupted, so extenders
// cannot be asked about its pods; without them the decision would not be what the user wants.
std::string GroupAttempts::WhyNotTried(const api::PodGroup& object) const {
  const auto knows = [&](const std::string& name) {
    return std::ranges::any_of(c_.runtimes, [&](const ProfileRuntime& runtime) {
      return runtime.profile->Name() == name;
    });
  };
  std::string why = WhyInvalid(c_.cluster, {object, members_}, c_.options.behaviour, knows);
  if (!why.empty() || c_.extenders.Empty()) return why;
  using Verb = CallExtender::Verb;
  const ExtenderMask asked = c_.extenders.With(Verb::kFilter) |
                             c_.extenders.With(Verb::kPrioritize) |
                             c_.extenders.With(Verb::kPreempt);
  const bool any = std::ranges::any_of(
      members_, [&](PodId id) { return (c_.pods.Of(id).extenders & asked) != 0; });
  return any ? "extenders are not called for pods of pod groups" : "";
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

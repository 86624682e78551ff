// Group cycles of a Placement.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/pods/group_state.h"
#include "scheduler/groups/partial_placement.h"
#include "scheduler/groups/validation.h"
#include "sim/placement.h"

namespace berth::sim {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using scheduler::GroupResult;
using scheduler::MemberResult;
using scheduler::PartialPlacement;

constexpr size_t kMaxScores = 50'000;   // of nodes that pods of one group were tried on
constexpr size_t kMaxTrials = 200'000;  // pods times domains, to find the best partial result

PodOutcome::Kind KindOf(const scheduler::GroupStatus& status) {
  if (status.Ok()) return PodOutcome::Kind::kPlaced;
  return status.IsError() ? PodOutcome::Kind::kError : PodOutcome::Kind::kUnschedulable;
}

GroupOutcome::Kind GroupKindOf(const scheduler::GroupStatus& status) {
  if (status.Ok()) return GroupOutcome::Kind::kPlaced;
  return status.IsError() ? GroupOutcome::Kind::kError : GroupOutcome::Kind::kUnschedulable;
}

std::vector<GroupOutcome::Blocker> BlockersOf(const cluster::Cluster& cluster,
                                              const PartialPlacement& partial) {
  std::vector<GroupOutcome::Blocker> blockers;
  for (const PartialPlacement::Member& member : partial.members) {
    if (member.node != cluster::kNoNode) continue;
    auto known = std::ranges::find(blockers, member.message, &GroupOutcome::Blocker::message);
    if (known == blockers.end()) {
      known = blockers.insert(known, {member.message, cluster.GetPod(member.pod).name, 0});
    }
    ++known->pods;
  }
  std::ranges::stable_sort(blockers, std::ranges::greater(), &GroupOutcome::Blocker::pods);
  if (blockers.size() > GroupOutcome::kMaxBlockers) blockers.resize(GroupOutcome::kMaxBlockers);
  return blockers;
}

}  // namespace

NodeIndex Placement::Decide(scheduler::Attempt& attempt, const framework::NodeSet* within) {
  attempt.Decide(algorithm_, options_.keep_scores, within);
  const scheduler::Decision& decision = attempt.decision();
  if (options_.keep_scores && decision.scored && member_scores_.size() < kMaxScores) {
    member_scores_[{attempt.pod(), decision.node}] = ScoresOf(attempt);
  }
  return decision.node;
}

void Placement::ScheduleGroup(const Entity& entity, std::vector<PodOutcome>* outcomes) {
  cluster::Cluster& cluster = world_.GetCluster();
  Entity ours{entity.group, {}};
  for (const PodId pod : entity.pods) {
    if (profiles_.CycleFor(cluster.GetPod(pod).shape->source.spec.scheduler_name) == nullptr) {
      outcomes->push_back(Schedule(pod));  // it belongs to another scheduler
    } else {
      ours.pods.push_back(pod);
    }
  }
  if (ours.pods.empty()) return;
  GroupOutcome group;
  group.namespace_ = entity.group->metadata.namespace_;
  group.name = entity.group->metadata.name;
  group.min_count = cluster::MinCountOf(*entity.group);
  group.pods = static_cast<int64_t>(ours.pods.size());
  group.running = static_cast<int64_t>(cluster::PlacedMemberCount(cluster, *entity.group));
  if (!GroupGated(ours, &group, outcomes)) {
    framework::Cycle& cycle =
        *profiles_.CycleFor(cluster.GetPod(ours.pods.front()).shape->source.spec.scheduler_name);
    const GroupResult result = RunGroup(ours, cycle, &group);
    MarkPreempted(group.victims, *outcomes);
    for (const MemberResult& member : result.members) {
      PodOutcome& outcome = outcomes->emplace_back(CommitMember(result, member, cycle));
      outcome.group = group.name;
      if (outcome.kind == PodOutcome::Kind::kPlaced) ++group.placed;
    }
    if (group.kind == GroupOutcome::Kind::kUnschedulable) FindBest(ours, result, cycle, &group);
  }
  groups_.push_back(std::move(group));
}

// One pod that PreEnqueue rejects keeps all of them out of the queue.
bool Placement::GroupGated(const Entity& entity, GroupOutcome* group,
                           std::vector<PodOutcome>* outcomes) const {
  std::vector<PodOutcome> own;
  std::string first;
  for (const PodId id : entity.pods) {
    const cluster::Pod& pod = world_.GetCluster().GetPod(id);
    const framework::Cycle* cycle = profiles_.CycleFor(pod.shape->source.spec.scheduler_name);
    PodOutcome& outcome = own.emplace_back(Named(id));
    outcome.group = group->name;
    if (Gated(*cycle, pod, &outcome) && first.empty()) {
      first = outcome.name;
      group->message = outcome.message;
    }
  }
  if (first.empty()) return false;
  group->kind = GroupOutcome::Kind::kGated;
  for (PodOutcome& outcome : own) {
    if (outcome.kind == PodOutcome::Kind::kGated) continue;
    outcome.kind = PodOutcome::Kind::kGated;
    outcome.message = fmt::format("pod {} of its pod group is gated: {}", first, group->message);
  }
  outcomes->insert(outcomes->end(), own.begin(), own.end());
  return true;
}

// Preemption, if it finds victims, deletes them at once and the group is tried again.
GroupResult Placement::RunGroup(const Entity& entity, framework::Cycle& cycle,
                                GroupOutcome* group) {
  cluster::Cluster& cluster = world_.GetCluster();
  const framework::PodGroupInfo info{*entity.group, entity.pods};
  const auto knows = [&](const std::string& name) { return profiles_.CycleFor(name) != nullptr; };
  GroupResult result;
  if (std::string why = scheduler::WhyInvalid(cluster, info, world_.GetBehaviour(), knows);
      !why.empty()) {
    result.status = result.before_post_filter = scheduler::GroupStatus::Error(std::move(why));
    for (const PodId pod : entity.pods) {
      MemberResult& member = result.members.emplace_back();
      member.pod = pod;
      member.status = result.status;
    }
  } else {
    member_scores_.clear();
    scheduler::GroupAlgorithm algorithm(cycle, cluster, *this);
    result = algorithm.Run(info);
    if (!result.preemption.victims.empty()) {
      for (const PodId victim : result.preemption.victims) {
        group->victims.push_back(cluster.GetPod(victim).Key());
        cluster.RemovePod(victim);
      }
      result = algorithm.Run(info);
    }
  }
  group->kind = GroupKindOf(result.status);
  group->message = scheduler::ConditionOf(result).message;
  if (!result.placements.empty()) {
    const scheduler::PlacementResult& placements = result.placements.front();
    group->placements = static_cast<int64_t>(placements.placements.size());
    if (result.status.Ok() && placements.chosen < placements.placements.size()) {
      group->placement = placements.placements[placements.chosen].name;
    }
  }
  return result;
}

// Everything is as when the node was chosen, so the plugins reach the same state again.
PodOutcome Placement::CommitMember(const GroupResult& result, const MemberResult& member,
                                   framework::Cycle& cycle) {
  cluster::Cluster& cluster = world_.GetCluster();
  PodOutcome outcome = Named(member.pod);
  const scheduler::MemberOutcome decided = scheduler::OutcomeOf(result, member);
  outcome.kind = KindOf(decided.status);
  outcome.message = decided.status.Message();
  outcome.feasible_nodes = member.feasible;
  outcome.evaluated_nodes = member.evaluated;
  if (decided.nomination != MemberResult::Nomination::kKeep) {
    cluster.MutableNominations().Clear(member.pod);
    cluster.MutablePod(member.pod).nominated_node_name.clear();
  }
  if (!decided.status.Ok()) return outcome;
  outcome.message.clear();
  outcome.equal_nodes = member.equal;
  outcome.total = member.total;
  attempt_.Begin(cycle, cluster, member.pod);
  cycle.Begin(cluster, cluster.GetPod(member.pod));
  if (cycle.RunPreFilter().Ok()) cycle.FilterOne(member.node);
  attempt_.Decided();
  if (const framework::Status status = attempt_.Reserve(member.node); !status.Ok()) {
    attempt_.Rollback();
    outcome.kind = PodOutcome::Kind::kError;
    outcome.message = status.Message();
    return outcome;
  }
  outcome.node = member.node;
  const auto scores = member_scores_.find({member.pod, member.node});
  if (scores != member_scores_.end()) outcome.scores = scores->second;
  return outcome;
}

// In the domains of the topology constraint one after the other, in order of name.
void Placement::FindBest(const Entity& entity, const GroupResult& result, framework::Cycle& cycle,
                         GroupOutcome* group) {
  cluster::Cluster& cluster = world_.GetCluster();
  std::optional<PartialPlacement> best;
  const auto try_in = [&](const framework::NodeSet* nodes, const std::string& name) {
    PartialPlacement found = scheduler::PlaceMost(cycle, cluster, algorithm_, entity.pods, nodes);
    if (best && found.placed <= best->placed) return;
    group->best_placement = name;
    best = std::move(found);
  };
  const bool topology = entity.group->spec.scheduling_constraints &&
                        !entity.group->spec.scheduling_constraints->topology.empty() &&
                        !result.placements.empty();
  if (!topology) {
    try_in(nullptr, "");
  } else {
    size_t trials = 0;
    for (const framework::Placement& placement : result.placements.front().placements) {
      if (trials > kMaxTrials) break;
      trials += entity.pods.size();
      try_in(&placement.nodes, placement.name);
    }
  }
  if (!best) return;
  group->best = static_cast<int64_t>(best->placed);
  group->blockers = BlockersOf(cluster, *best);
}

}  // namespace berth::sim

#include "conformance/groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/objects/object_store.h"
#include "cluster/pods/group_state.h"
#include "conformance/plugin_reports.h"
#include "framework/runtime/diagnosis.h"
#include "scheduler/groups/validation.h"

namespace berth::conformance {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using scheduler::GroupResult;
using scheduler::MemberResult;

constexpr std::string_view kCondition = "PodGroupInitiallyScheduled";

std::vector<std::string> Names(const cluster::Cluster& cluster, const framework::NodeSet& nodes) {
  std::vector<std::string> names;
  nodes.ForEach([&](NodeIndex n) { names.push_back(cluster.NodeName(n)); });
  std::sort(names.begin(), names.end());
  return names;
}

// Takes the first by name of the best nodes, and notes every search. Decides from the pod's class
// too, which must come to the same.
class Recorder final : public scheduler::MemberDecider {
 public:
  Recorder(cluster::Cluster& cluster, const std::map<PodId, PodId>& stand_ins,
           GroupCycleResult& result)
      : cluster_(cluster), stand_ins_(stand_ins), result_(result), full_({}), classed_({}) {}

  NodeIndex Decide(scheduler::Attempt& attempt, const framework::NodeSet* within) override {
    const auto stand_in = stand_ins_.find(attempt.pod());
    if (stand_in != stand_ins_.end()) cluster_.MutableNominations().Clear(stand_in->second);
    const NodeIndex node = Search(attempt, within);
    if (node == cluster::kNoNode && stand_in != stand_ins_.end()) {
      const std::string& nominated = cluster_.GetPod(attempt.pod()).nominated_node_name;
      if (!nominated.empty()) {
        cluster_.MutableNominations().Set(stand_in->second, cluster_.Strings().Intern(nominated));
      }
    }
    return node;
  }

 private:
  NodeIndex Search(scheduler::Attempt& attempt, const framework::NodeSet* within) {
    attempt.cycle().classes().set_eager(true);
    classed_.Schedule(attempt.cycle(), cluster_, cluster_.GetPod(attempt.pod()), &by_class_,
                      /*score_always=*/false, within);
    attempt.Decide(full_, /*score_always=*/true, within);
    const scheduler::Decision& decision = attempt.decision();
    EvaluationResult& evaluation = result_.evaluations.emplace_back();
    evaluation.pod = cluster_.GetPod(attempt.pod()).Key();
    const bool placed = decision.outcome == scheduler::Outcome::kScheduled;
    if (by_class_.outcome != decision.outcome ||
        (placed && (by_class_.feasible_count != decision.feasible_count ||
                    !decision.best.Contains(by_class_.node)))) {
      result_.error = "the class of the pod gives another answer than looking at every node";
    }
    if (!placed) {
      evaluation.message = decision.outcome == scheduler::Outcome::kUnschedulable
                               ? framework::FitErrorMessage(attempt.cycle(), decision.diagnosis)
                               : decision.error;
      return cluster::kNoNode;
    }
    evaluation.feasible = Names(cluster_, decision.feasible);
    evaluation.best = Names(cluster_, decision.best);
    evaluation.selected = evaluation.best.front();
    return cluster_.FindNode(evaluation.selected);
  }

  cluster::Cluster& cluster_;
  const std::map<PodId, PodId>& stand_ins_;
  GroupCycleResult& result_;
  scheduler::Algorithm full_;
  scheduler::Algorithm classed_;
  scheduler::Decision by_class_;
};

}  // namespace

// By priority, then by the arrival of the first pod.
std::vector<GroupReplay::Entity> GroupReplay::Entities() const {
  std::vector<Entity> entities;
  std::map<std::string, size_t> groups;
  for (const PodId id : replay_.Pods()) {
    const cluster::Pod& pod = cluster_.GetPod(id);
    const std::string* name = cluster::GroupNameOf(pod);
    const api::PodGroup* group = cluster::GroupOf(cluster_, pod);
    const bool gated = replay_.GatedResult(id).has_value();
    if (name != nullptr && group == nullptr) continue;
    if (name == nullptr) {
      entities.push_back({pod.namespace_(), "", pod.shape->priority, {id}, gated});
      continue;
    }
    const auto [it, added] = groups.try_emplace(pod.namespace_() + "/" + *name, entities.size());
    if (added) {
      entities.push_back({pod.namespace_(), *name, cluster::PriorityOf(*group), {}, false});
    }
    Entity& entity = entities[it->second];
    entity.pods.push_back(id);
    entity.gated = entity.gated || gated;
  }
  for (Entity& entity : entities) {
    std::ranges::stable_sort(entity.pods, std::ranges::greater(),
                             [&](PodId id) { return cluster_.GetPod(id).shape->priority; });
  }
  std::ranges::stable_sort(entities, std::ranges::greater(), &Entity::priority);
  return entities;
}

std::vector<EntityResult> GroupReplay::Run() {
  std::vector<EntityResult> results;
  std::vector<Entity> again;
  std::set<PodId> seen;
  for (Entity& entity : Entities()) {
    if (entity.gated) continue;
    seen.insert(entity.pods.begin(), entity.pods.end());
    if (Try(entity, 1, &results)) again.push_back(entity);
  }
  for (Entity& entity : again) {
    std::erase_if(entity.pods, [&](PodId id) { return bound_.contains(id); });
    if (!entity.pods.empty()) Try(entity, 2, &results);
  }
  for (const PodId id : replay_.Pods()) {
    if (seen.contains(id)) continue;
    EntityResult& result = results.emplace_back();
    result.pod = replay_.GatedResult(id);
    if (result.pod) continue;
    result.pod.emplace();
    result.pod->pod = cluster_.GetPod(id).Key();
    result.pod->attempt = 1;
    result.pod->gated = true;
  }
  return results;
}

bool GroupReplay::Try(Entity& entity, int32_t attempt, std::vector<EntityResult>* results) {
  EntityResult& result = results->emplace_back();
  if (entity.group.empty()) {
    const PodId id = entity.pods.front();
    result.pod = replay_.Schedule(id, attempt);
    // In flight, a pod alone is not nominated; the second attempt is made outside the queue.
    if (attempt == 1) cluster_.MutableNominations().Clear(id);
    // Rivals that lost their nomination lose what stands for them.
    for (const auto& [pod, stand_in] : stand_ins_) {
      if (cluster_.GetPod(stand_in).nominated_node_name.empty()) Nominate(pod, "");
    }
    if (!result.pod->preemption) return false;
    PreemptionOutcome& preemption = *result.pod->preemption;
    std::sort(preemption.victims.begin(), preemption.victims.end());
    for (CandidateResult& candidate : preemption.candidates) {
      std::sort(candidate.victims.begin(), candidate.victims.end());
    }
    return !preemption.nominated_node.empty();
  }
  bool again = false;
  result.group = RunCycle(entity, attempt, &again);
  return again;
}

GroupCycleResult GroupReplay::RunCycle(const Entity& entity, int32_t attempt, bool* again) {
  GroupCycleResult result;
  result.pod_group = entity.namespace_ + "/" + entity.group;
  result.attempt = attempt;
  for (const PodId id : entity.pods) result.pods.push_back(cluster_.GetPod(id).Key());
  const auto group = cluster_.Objects().pod_groups.Share(entity.namespace_, entity.group);
  const framework::PodGroupInfo info{*group, entity.pods};
  const std::string why = scheduler::WhyInvalid(
      cluster_, info, replay_.GetBehaviour(),
      [&](const std::string& name) { return replay_.Profiles().CycleFor(name) != nullptr; });
  if (!why.empty()) {
    for (const std::string& pod : result.pods) {
      MemberReport& report = result.results.emplace_back();
      report.pod = pod;
      report.code = "Error";
      report.message = why;
      report.nominating = "clear";
    }
    for (const PodId id : entity.pods) Nominate(id, "");
    SetCondition(entity, {false, "SchedulerError", why}, &result);
    return result;
  }
  const cluster::Pod& first = cluster_.GetPod(entity.pods.front());
  framework::Cycle& cycle = *replay_.Profiles().CycleFor(first.shape->source.spec.scheduler_name);
  Recorder recorder(cluster_, stand_ins_, result);
  scheduler::GroupAlgorithm algorithm(cycle, cluster_, recorder);
  const GroupResult decided = algorithm.Run(info);
  Report(decided, cycle.profile(), &result);
  const DeviceUse before = DeviceUseOf(cluster_.Objects());
  size_t placed = 0;
  for (const PodId id : entity.pods) TakeAway(id);
  for (const MemberResult& member : decided.members) {
    result.results.push_back(Apply(decided, member, cycle));
    placed += result.results.back().node.empty() ? 0 : 1;
  }
  std::ranges::set_difference(DeviceUseOf(cluster_.Objects()).devices, before.devices,
                              std::back_inserter(result.allocated_devices));
  SetCondition(entity, scheduler::ConditionOf(decided), &result);
  if (result.post_filter && !result.post_filter->victims.empty()) {
    for (const PodId victim : decided.preemption.victims) cluster_.RemovePod(victim);
  }
  *again = decided.waits_for_preemption || (placed > 0 && placed < decided.members.size());
  return result;
}

void GroupReplay::Report(const GroupResult& decided, const framework::Profile& profile,
                         GroupCycleResult* result) const {
  for (const scheduler::PlacementResult& run : decided.placements) {
    PlacementsResult& placements = result->placements.emplace_back();
    for (const framework::Placement& placement : run.placements) {
      placements.names.push_back(placement.name);
      placements.nodes[placement.name] = Names(cluster_, placement.nodes);
    }
    int64_t best = 0;
    for (const auto& score : run.scores) best = std::max(best, score.total);
    for (const auto& score : run.scores) {
      const std::string& name = run.placements[score.placement].name;
      auto& reported = placements.scores[name];
      for (size_t i = 0; i < score.weighted.size(); ++i) {
        reported[std::string(profile.placement_score[i].plugin->Name())] = score.weighted[i];
      }
      reported["total"] = score.total;
      if (score.total == best) placements.best.push_back(name);
    }
    if (!run.scores.empty()) placements.selected = run.placements[run.chosen].name;
  }
  if (decided.post_filter_ran) ReportPostFilter(decided, result);
}

void GroupReplay::ReportPostFilter(const GroupResult& decided, GroupCycleResult* result) const {
  GroupPostFilterOutcome& outcome = result->post_filter.emplace();
  outcome.code = framework::CodeName(decided.post_filter.code());
  if (!decided.post_filter.Ok()) outcome.plugin = decided.post_filter.plugin();
  outcome.reasons = decided.post_filter.reasons();
  std::sort(outcome.reasons.begin(), outcome.reasons.end());
  outcome.message = decided.post_filter.Message();
  for (const auto& [pod, node] : decided.preemption.nominations) {
    outcome.nominated[cluster_.GetPod(pod).Key()] = node;
  }
  // The recording notes victims when one is asked to go.
  const auto& victims = decided.preemption.victims;
  if (std::ranges::all_of(victims, [&](PodId id) { return cluster_.GetPod(id).terminating; })) {
    return;
  }
  for (const PodId id : victims) outcome.victims.push_back(cluster_.GetPod(id).Key());
  std::sort(outcome.victims.begin(), outcome.victims.end());
  outcome.num_pdb_violations = decided.preemption.pdb_violations;
}

MemberReport GroupReplay::Apply(const GroupResult& decided, const MemberResult& member,
                                framework::Cycle& cycle) {
  using Nomination = MemberResult::Nomination;
  MemberReport report;
  report.pod = cluster_.GetPod(member.pod).Key();
  const scheduler::MemberOutcome outcome = scheduler::OutcomeOf(decided, member);
  if (outcome.status.Ok()) {
    report.node = cluster_.NodeName(member.node);
    report.message = Bind(cycle, member);
    PutBack(member.pod);
    return report;
  }
  report.code = framework::CodeName(outcome.status.code);
  report.message = outcome.status.Message();
  report.nominating = outcome.nomination == Nomination::kKeep    ? "keep"
                      : outcome.nomination == Nomination::kClear ? "clear"
                                                                 : outcome.nominated_node;
  if (outcome.fit_error) {
    report.unschedulable_plugins = {member.unschedulable_plugins.begin(),
                                    member.unschedulable_plugins.end()};
    report.pending_plugins = {member.pending_plugins.begin(), member.pending_plugins.end()};
  }
  if (outcome.nomination == Nomination::kKeep) {
    PutBack(member.pod);
  } else {
    Nominate(member.pod, outcome.nominated_node);
  }
  return report;
}

// Empty, or why not.
std::string GroupReplay::Bind(framework::Cycle& cycle, const MemberResult& member) {
  framework::NodeSet only;
  only.Resize(cluster_.Rows());
  only.Insert(member.node);
  cluster::Pod& pod = cluster_.MutablePod(member.pod);
  if (pod.start_time.IsZero()) pod.start_time = pod.creation_timestamp;
  scheduler::Attempt attempt;
  attempt.Begin(cycle, cluster_, member.pod);
  if (attempt.Decide(bind_, false, &only) != scheduler::Outcome::kScheduled)
    return "no longer fits";
  if (const auto reserved = attempt.Reserve(member.node); !reserved.Ok()) return reserved.Message();
  bound_.insert(member.pod);
  return attempt.Permit().Message();
}

void GroupReplay::Nominate(PodId pod, const std::string& node) {
  cluster_.MutablePod(pod).nominated_node_name = node;
  PutBack(pod);
}

void GroupReplay::TakeAway(PodId pod) {
  const auto it = stand_ins_.find(pod);
  if (it != stand_ins_.end()) cluster_.MutableNominations().Clear(it->second);
}

void GroupReplay::PutBack(PodId pod) {
  cluster_.MutableNominations().Clear(pod);
  const bool waits = cluster_.GetPod(pod).node == cluster::kNoNode;
  const std::string node = waits ? cluster_.GetPod(pod).nominated_node_name : std::string();
  const auto [it, added] = stand_ins_.try_emplace(pod, cluster::kNoPod);
  if (added) {
    api::Pod bare;
    bare.metadata.namespace_ = cluster_.GetPod(pod).namespace_();
    bare.metadata.name = cluster_.GetPod(pod).name;
    bare.metadata.uid = "stand-in-" + cluster_.GetPod(pod).uid;
    it->second = cluster_.AddPod(bare);
  }
  TakeAway(pod);
  cluster_.MutablePod(it->second).nominated_node_name = node;
  if (node.empty()) return;
  cluster_.MutableNominations().Set(it->second, cluster_.Strings().Intern(node));
}

// One that is true stays so.
void GroupReplay::SetCondition(const Entity& entity, const scheduler::GroupCondition& condition,
                               GroupCycleResult* result) {
  auto& store = cluster_.MutableObjects().pod_groups;
  api::PodGroup group = *store.Find(entity.namespace_, entity.group);
  auto& conditions = group.status.conditions;
  const auto existing =
      std::ranges::find(conditions, std::string(kCondition), &api::Condition::type);
  const ConditionResult wanted{std::string(kCondition), condition.scheduled ? "True" : "False",
                               condition.reason, condition.message};
  if (existing != conditions.end()) {
    if (existing->status == "True" && !condition.scheduled) return;
    const ConditionResult before{existing->type, existing->status, existing->reason,
                                 existing->message};
    if (before == wanted) return;
    conditions.erase(existing);
  }
  api::Condition& written = conditions.emplace_back();
  written.type = wanted.type;
  written.status = wanted.status;
  written.reason = wanted.reason;
  written.message = wanted.message;
  store.Set(std::move(group));
  result->conditions[result->pod_group] = wanted;
}

}  // namespace berth::conformance

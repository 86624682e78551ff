#include "scheduler/engine/preemptions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/objects/adopted_groups.h"
#include "cluster/pods/group_state.h"
#include "scheduler/engine/attempts.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/group_attempts.h"
#include "scheduler/engine/intake.h"

namespace berth::scheduler {
namespace {

// What the place of a group's preemption is called in events.
constexpr std::string_view kWholeCluster = "cluster";

}  // namespace

bool Preemptions::StartPreemption(PodId id, const framework::PostFilterResult& result,
                                  const Failure& failure) {
  const cluster::Pod& preemptor = c_.cluster.GetPod(id);
  Preemption preemption;
  preemption.pods = {preemptor.key()};
  preemption.preemptor = c_.RefOf(preemptor);
  preemption.priority = preemptor.shape->priority;
  preemption.node = result.nominated_node;
  preemption.scheduler_name = c_.runtimes[c_.pods.Of(id).profile].profile->Name();
  const PreemptionSize size{.victims = result.victims.size()};
  return Start(std::move(preemption), result.victims, size, failure);
}

bool Preemptions::StartGroupPreemption(const api::PodGroup& group, std::span<const PodId> pods,
                                       const framework::PodGroupPostFilterResult& result) {
  Preemption preemption;
  for (const PodId id : pods) preemption.pods.push_back(c_.cluster.GetPod(id).key());
  preemption.preemptor = {group.metadata.namespace_, group.metadata.name, group.metadata.uid,
                          group.metadata.resource_version};
  preemption.of_group = true;
  preemption.priority = cluster::PriorityOf(c_.cluster, group);
  preemption.node = kWholeCluster;
  preemption.scheduler_name = c_.runtimes[c_.pods.Of(pods.front()).profile].profile->Name();
  const PreemptionSize size{.for_group = true,
                            .victims = result.victims.size(),
                            .group_disruptions = result.group_disruptions,
                            .pdb_violations = result.pdb_violations};
  return Start(std::move(preemption), result.victims, size, {});
}

bool Preemptions::Start(Preemption&& started, std::span<const PodId> victims,
                        const PreemptionSize& size, const Failure& failure) {
  const uint64_t key = next_preemption_++;
  Preemption& preemption = preemptions_[key] = std::move(started);
  const config::Behaviour& behaviour = c_.options.behaviour;
  for (const PodId victim : victims) {
    const cluster::Pod& pod = c_.cluster.GetPod(victim);
    if (behaviour.skips_terminating_victims && pod.terminating) continue;
    preemption.victims.push_back({pod.key(), c_.RefOf(pod), c_.pods.Of(victim).generation,
                                  c_.pods.Of(victim).condition_types, pod.preempted});
  }
  const bool all_leave = behaviour.skips_terminating_victims && preemption.victims.empty();
  const bool counts = behaviour.observes_zero_victims || !all_leave || !behaviour.async_preemption;
  if (counts) {
    c_.log.rates().Preempted(victims.size());
    if (c_.observer != nullptr) {
      c_.observer->Preempted(preemption.preemptor, victims.size(), preemption.node);
      c_.observer->VictimsChosen(preemption.preemptor, size);
    }
  }
  if (!c_.options.behaviour.async_preemption) {
    preemption.afterwards = failure;
    preemption.stage = Preemption::Stage::kAllButLast;
    preemption.outstanding = preemption.victims.size();
    preemption_waited_for_ = true;
    const size_t evicted = preemption.victims.size();
    for (size_t i = 0; i < evicted; ++i) Evict(key, i);
    if (evicted == 0) ProceedWaited(key);
    return true;
  }
  if (all_leave) {
    preemptions_.erase(key);
    return false;
  }
  if (c_.observer != nullptr) {
    c_.observer->PreemptionBegan(preemption.preemptor, preemption.victims.size(), preemption.node);
  }
  HoldBack(preemption, !preemption.victims.empty());
  ClearNominations(key);
  if (preemption.outstanding == 0) ProceedPreemption(key);
  return false;
}

void Preemptions::ClearNominations(uint64_t id) {
  Preemption& preemption = preemptions_[id];
  const auto* nominated = c_.cluster.Nominated().On(c_.cluster.Strings().Intern(preemption.node));
  if (nominated == nullptr) return;
  for (const PodId other : *nominated) {
    const cluster::Pod& pod = c_.cluster.GetPod(other);
    if (pod.shape->priority >= preemption.priority) continue;
    if (pod.nominated_node_name.empty()) continue;
    ++preemption.outstanding;
    c_.outbox.EmitAwaited(PatchPodStatus{c_.RefOf(pod), std::nullopt, std::string()},
                          {Awaited::For::kNomination, {}, id, 0});
  }
}

// It may be gone by now.
bool Preemptions::PreemptorIsThere(const Preemption& preemption) const {
  return std::ranges::any_of(preemption.pods, [&](const PodKey& pod) {
    return c_.cluster.FindPod(pod) != cluster::kNoPod;
  });
}

void Preemptions::ProceedWaited(uint64_t id) {
  Preemption& preemption = preemptions_[id];
  if (preemption.stage == Preemption::Stage::kAllButLast && !preemption.failed &&
      PreemptorIsThere(preemption)) {
    preemption.stage = Preemption::Stage::kClearNominations;
    ClearNominations(id);
    if (preemption.outstanding > 0) return;
  }
  const Preemption finished = std::move(preemption);
  preemptions_.erase(id);
  preemption_waited_for_ = false;
  TellExecuted(finished, !finished.victim_failed);
  if (finished.of_group) return c_.attempts->groups()->PreemptionOver(finished.failed);
  const PodId preemptor = c_.cluster.FindPod(finished.pods.front());
  if (preemptor == cluster::kNoPod) return;
  Failure failure = *finished.afterwards;
  if (finished.failed) {
    failure.nomination = framework::PostFilterResult::Nomination::kClear;
    failure.nominated_node.clear();
  }
  c_.attempts->Fail(preemptor, failure);
}

// The stage is over: begins the next.
void Preemptions::ProceedPreemption(uint64_t id) {
  Preemption& preemption = preemptions_[id];
  if (preemption.afterwards) {
    ProceedWaited(id);
    return;
  }
  if (preemption.victims.empty()) {
    FinishPreemption(id);
    return;
  }
  const size_t last = preemption.victims.size() - 1;
  if (preemption.stage == Preemption::Stage::kClearNominations) {
    preemption.stage = Preemption::Stage::kAllButLast;
    preemption.outstanding = last;
    if (last > 0) {
      for (size_t i = 0; i < last; ++i) Evict(id, i);
      return;
    }
  }
  const bool spares = c_.options.behaviour.spares_last_victim_on_error && preemption.victim_failed;
  if (preemption.stage == Preemption::Stage::kAllButLast && !spares) {
    preemption.stage = Preemption::Stage::kLast;
    preemption.outstanding = 1;
    EvictLast(id);
    return;
  }
  FinishPreemption(id);
}

void Preemptions::EvictLast(uint64_t id) {
  const Preemption& preemption = preemptions_[id];
  const PodKey key = preemption.victims.back().key;
  const PodId last = c_.cluster.FindPod(key);
  const bool leaves = last == cluster::kNoPod || c_.cluster.GetPod(last).terminating;
  if (!c_.options.behaviour.skips_terminating_victims || leaves) HoldBack(preemption, false);
  Evict(id, preemption.victims.size() - 1);
}

void Preemptions::HoldBack(const Preemption& preemption, bool preempting) {
  for (const PodKey& pod : preemption.pods) {
    const PodId preemptor = c_.cluster.FindPod(pod);
    if (preemptor != cluster::kNoPod) c_.cluster.MutablePod(preemptor).preempting = preempting;
  }
}

void Preemptions::VictimLeaves(const cluster::Pod& pod) {
  for (auto& [id, preemption] : preemptions_) {
    if (preemption.stage != Preemption::Stage::kLast || preemption.afterwards) continue;
    if (preemption.victims.back().key != pod.key()) continue;
    if (EndsSilently(pod)) preemption.no_event_to_come = true;
    HoldBack(preemption, false);
  }
}

void Preemptions::Evict(uint64_t id, size_t victim) {
  const Preemption& preemption = preemptions_[id];
  const Preemption::Victim& evicted = preemption.victims[victim];
  // A victim that has not been bound yet only loses its turn.
  if (c_.options.behaviour.preempts_in_memory) {
    if (c_.bindings->IsInMemory(evicted.key)) {
      // What it holds is free soon, and the event of that must find the preemptor.
      if (preemption.stage == Preemption::Stage::kLast) HoldBack(preemption, false);
      c_.bindings->Preempt(evicted.key, {id, victim});
      return;
    }
  } else if (c_.bindings->Reject(evicted.key, "DefaultPreemption", "preempted")) {
    VictimDone(id, victim, NoteOf(preemption));
    return;
  }
  if (evicted.marked) {
    DeleteVictim(id, victim);
    return;
  }
  api::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message = fmt::format("{}: preempting to accommodate a higher priority {}",
                                  preemption.scheduler_name, preemption.Kind());
  condition.observed_generation = c_.options.behaviour.observed_generation ? evicted.generation : 0;
  condition.last_transition_time = c_.now;
  c_.outbox.EmitAwaited(PatchPodStatus{evicted.ref, std::move(condition), std::nullopt,
                                       c_.pods.condition_types[evicted.condition_types]},
                        {Awaited::For::kVictimCondition, {}, id, victim});
}

void Preemptions::DeleteVictim(uint64_t id, size_t victim) {
  c_.outbox.EmitAwaited(scheduler::DeletePod{preemptions_[id].victims[victim].ref},
                        {Awaited::For::kVictimDeletion, {}, id, victim});
}

void Preemptions::PreemptionResult(const Awaited& awaited, const EffectResult& result) {
  const auto it = preemptions_.find(awaited.preemption);
  if (it == preemptions_.end()) return;
  Preemption& preemption = it->second;
  const bool ok = result.code == EffectResult::Code::kOk;
  const bool gone = result.code == EffectResult::Code::kNotFound;
  switch (awaited.what) {
    case Awaited::For::kNomination:
      if (!ok) preemption.failed = true;
      if (--preemption.outstanding == 0) ProceedPreemption(it->first);
      return;
    case Awaited::For::kVictimCondition:
      if (ok) return DeleteVictim(it->first, awaited.victim);
      if (!gone || !c_.options.behaviour.skips_terminating_victims) {
        preemption.failed = preemption.victim_failed = true;
      }
      break;
    default:
      if (ok) {
        const PodId victim = c_.cluster.FindPod(preemption.victims[awaited.victim].key);
        if (victim != cluster::kNoPod && EndsSilently(c_.cluster.GetPod(victim))) {
          preemption.no_event_to_come = true;
        }
        return VictimDone(it->first, awaited.victim, NoteOf(preemption));
      }
      if (!gone) preemption.failed = preemption.victim_failed = true;
      break;
  }
  if (gone) preemption.no_event_to_come = true;  // no deletion may be left to be seen
  VictimDone(it->first, awaited.victim, "");
}

// The victim's binding has failed meanwhile: its leaving the node was an event for the preemptor
// while that was held back, and the end of a pending pod is none.
bool Preemptions::EndsSilently(const cluster::Pod& victim) const {
  return c_.options.behaviour.skips_terminating_victims && victim.node == cluster::kNoNode;
}

std::string Preemptions::NoteOf(const Preemption& preemption) const {
  return fmt::format("Preempted by {} {} on node {}", preemption.Kind(), preemption.preemptor.uid,
                     preemption.node);
}

void Preemptions::PreemptedInMemory(uint64_t id, size_t victim) {
  const auto it = preemptions_.find(id);
  if (it == preemptions_.end()) return;
  const bool last = it->second.stage == Preemption::Stage::kLast;
  if (last && c_.options.behaviour.in_memory_victim_activates) it->second.no_event_to_come = true;
  VictimDone(id, victim, NoteOf(it->second) + " (in kube-scheduler memory).");
}

// The victim is on its way, or could not be asked to go.
void Preemptions::VictimDone(uint64_t id, size_t victim, const std::string& note) {
  Preemption& preemption = preemptions_[id];
  if (!note.empty()) {
    const PodRef& leaving = preemption.victims[victim].ref;
    if (c_.observer != nullptr) {
      c_.observer->VictimPreempted(preemption.preemptor, leaving, preemption.node);
    }
    std::optional<PodRef> related;
    const bool named = !cluster::IsAdoptedGroup(preemption.preemptor.name);
    if (c_.options.behaviour.victim_events_name_preemptor && named) related = preemption.preemptor;
    c_.outbox.Record(leaving, std::move(related), "Normal", "Preempted", "Preempting", note,
                     preemption.scheduler_name, preemption.of_group);
  }
  if (--preemption.outstanding == 0) ProceedPreemption(id);
}

void Preemptions::TellExecuted(const Preemption& finished, bool success) {
  if (c_.observer == nullptr) return;
  c_.observer->PreemptionExecuted(finished.preemptor, finished.of_group, success);
}

void Preemptions::FinishPreemption(uint64_t id) {
  const Preemption finished = std::move(preemptions_[id]);
  preemptions_.erase(id);
  TellExecuted(finished, !finished.failed);
  if (c_.observer != nullptr) {
    c_.observer->PreemptionEnded(finished.preemptor, finished.node, !finished.failed);
  }
  HoldBack(finished, false);
  // No event may come: the pod looks for itself.
  if (!finished.failed && !finished.no_event_to_come) return;
  for (const PodKey& pod : finished.pods) {
    const PodId preemptor = c_.cluster.FindPod(pod);
    if (preemptor != cluster::kNoPod) c_.queue->Activate(preemptor, c_.now);
  }
}

}  // namespace berth::scheduler

#include "scheduler/engine/preemptions.h"

#include <fmt/format.h>

#include "scheduler/engine/attempts.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/intake.h"

namespace berth::scheduler {

bool Preemptions::StartPreemption(PodId id, const framework::PostFilterResult& result,
                                  const Failure& failure) {
  const cluster::Pod& preemptor = c_.cluster.GetPod(id);
  const uint64_t key = next_preemption_++;
  Preemption& preemption = preemptions_[key];
  preemption.pod = preemptor.key();
  preemption.preemptor = c_.RefOf(preemptor);
  preemption.node = result.nominated_node;
  preemption.scheduler_name = c_.runtimes[c_.pods.Of(id).profile].profile->Name();
  for (const PodId victim : result.victims) {
    const cluster::Pod& pod = c_.cluster.GetPod(victim);
    preemption.victims.push_back({pod.key(), c_.RefOf(pod), c_.pods.Of(victim).generation,
                                  c_.pods.Of(victim).condition_types, pod.preempted});
  }
  c_.log.rates().Preempted(preemption.victims.size());
  if (c_.observer != nullptr) {
    c_.observer->Preempted(preemption.preemptor, preemption.victims.size(), preemption.node);
  }
  if (!c_.options.behaviour.async_preemption) {
    preemption.afterwards = failure;
    preemption.stage = Preemption::Stage::kAllButLast;
    preemption.outstanding = preemption.victims.size();
    preemption_waited_for_ = true;
    const size_t victims = preemption.victims.size();
    for (size_t i = 0; i < victims; ++i) Evict(key, i);
    if (victims == 0) ProceedWaited(key);
    return true;
  }
  if (c_.observer != nullptr) {
    c_.observer->PreemptionBegan(preemption.preemptor, preemption.victims.size(), preemption.node);
  }
  c_.cluster.MutablePod(id).preempting = !preemption.victims.empty();
  ClearNominations(key, id);
  if (preemption.outstanding == 0) ProceedPreemption(key);
  return false;
}

void Preemptions::ClearNominations(uint64_t id, PodId preemptor_id) {
  Preemption& preemption = preemptions_[id];
  const cluster::Pod& preemptor = c_.cluster.GetPod(preemptor_id);
  const auto* nominated = c_.cluster.Nominated().On(c_.cluster.Strings().Intern(preemption.node));
  if (nominated != nullptr) {
    for (const PodId other : *nominated) {
      const cluster::Pod& pod = c_.cluster.GetPod(other);
      if (pod.shape->priority >= preemptor.shape->priority) continue;
      if (pod.nominated_node_name.empty()) continue;
      ++preemption.outstanding;
      c_.outbox.EmitAwaited(PatchPodStatus{c_.RefOf(pod), std::nullopt, std::string()},
                            {Awaited::For::kNomination, {}, id, 0});
    }
  }
}

void Preemptions::ProceedWaited(uint64_t id) {
  Preemption& preemption = preemptions_[id];
  const PodId preemptor = c_.cluster.FindPod(preemption.pod);  // it may be gone by now
  if (preemption.stage == Preemption::Stage::kAllButLast && !preemption.failed &&
      preemptor != cluster::kNoPod) {
    preemption.stage = Preemption::Stage::kClearNominations;
    ClearNominations(id, preemptor);
    if (preemption.outstanding > 0) return;
  }
  const Preemption finished = std::move(preemption);
  preemptions_.erase(id);
  preemption_waited_for_ = false;
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
  if (preemption.stage == Preemption::Stage::kAllButLast) {
    preemption.stage = Preemption::Stage::kLast;
    preemption.outstanding = 1;
    const PodId preemptor = c_.cluster.FindPod(preemption.pod);
    if (preemptor != cluster::kNoPod) c_.cluster.MutablePod(preemptor).preempting = false;
    Evict(id, last);
    return;
  }
  FinishPreemption(id);
}

void Preemptions::Evict(uint64_t id, size_t victim) {
  const Preemption& preemption = preemptions_[id];
  const Preemption::Victim& evicted = preemption.victims[victim];
  // A victim that still waits for permission has not been bound: it only loses its turn.
  if (c_.bindings->Reject(evicted.key, "DefaultPreemption", "preempted")) {
    VictimDone(id, victim, true);
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
  condition.message =
      preemption.scheduler_name + ": preempting to accommodate a higher priority pod";
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
  const bool ok = result.code == EffectResult::Code::kOk;
  switch (awaited.what) {
    case Awaited::For::kNomination:
      if (!ok) it->second.failed = true;
      if (--it->second.outstanding == 0) ProceedPreemption(it->first);
      break;
    case Awaited::For::kVictimCondition:
      if (ok) {
        DeleteVictim(it->first, awaited.victim);
      } else {
        it->second.failed = true;
        VictimDone(it->first, awaited.victim, false);
      }
      break;
    default:
      if (!ok) it->second.failed = true;  // gone already, too: no deletion is left to be seen
      VictimDone(it->first, awaited.victim, ok);
      break;
  }
}

// The victim is on its way (`ok`), or could not be asked to go.
void Preemptions::VictimDone(uint64_t id, size_t victim, bool ok) {
  Preemption& preemption = preemptions_[id];
  if (ok && c_.observer != nullptr) {
    c_.observer->VictimPreempted(preemption.preemptor, preemption.victims[victim].ref,
                                 preemption.node);
  }
  if (ok) {
    c_.outbox.Record(
        preemption.victims[victim].ref, preemption.preemptor, "Normal", "Preempted", "Preempting",
        fmt::format("Preempted by pod {} on node {}", preemption.preemptor.uid, preemption.node),
        preemption.scheduler_name);
  }
  if (--preemption.outstanding == 0) ProceedPreemption(id);
}

void Preemptions::FinishPreemption(uint64_t id) {
  const Preemption finished = std::move(preemptions_[id]);
  preemptions_.erase(id);
  if (c_.observer != nullptr) {
    c_.observer->PreemptionEnded(finished.preemptor, finished.node, !finished.failed);
  }
  const PodId preemptor = c_.cluster.FindPod(finished.pod);
  if (preemptor == cluster::kNoPod) return;
  c_.cluster.MutablePod(preemptor).preempting = false;
  // Something did not work, so no event may come: the pod looks for itself.
  if (finished.failed) c_.queue->Activate(preemptor, c_.now);
}

}  // namespace berth::scheduler

// Preemptions: victims on their way out, so that one pod gets their node.
//
// Nominations of less important pods for the node are cleared, then the victims go, the last one
// after the others. Until then the preemptor is not queued again (`preempting` of its pod, which
// DefaultPreemption's PreEnqueue looks at): in 1.34 until the last victim's turn comes, so that at
// least one deletion is still to be seen that will move it; from 1.35 on until the request for the
// last victim has ended or the watch shows that it goes. Without async preemption the victims go
// first, all at once, and nothing else is scheduled meanwhile.
//
// From 1.35 on victims that terminate already get no request. From 1.36 on a victim that waits on
// Permit or is in PreBind gets none either: it is taken off its node in memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/engine/context.h"

namespace berth::scheduler {

struct Preemption {
  struct Victim {
    PodKey key;
    PodRef ref;
    int64_t generation = 0;
    uint16_t condition_types = 0;
    bool marked = false;  // has the DisruptionTarget condition
  };
  enum class Stage : uint8_t { kClearNominations, kAllButLast, kLast };

  std::vector<PodKey> pods;  // the preemptor, or those of the group
  PodRef preemptor;          // or the PodGroup
  bool of_group = false;
  int32_t priority = 0;
  std::string node;
  std::string scheduler_name;
  std::vector<Victim> victims;
  Stage stage = Stage::kClearNominations;
  size_t outstanding = 0;         // effects or victims not yet done with in this stage
  bool failed = false;            // something could not be done
  bool victim_failed = false;     // one of the victims could not be asked to go
  bool no_event_to_come = false;  // nothing may move the preemptor
  // Without async preemption: what is reported of the preemptor afterwards. No other pod is tried
  // before that.
  std::optional<Failure> afterwards;

  std::string_view Kind() const { return of_group ? "podgroup" : "pod"; }
};

class Preemptions {
 public:
  explicit Preemptions(EngineContext& context) : c_(context) {}

  // True: `failure` is reported when the victims are on their way, not now.
  bool StartPreemption(PodId id, const framework::PostFilterResult& result, const Failure& failure);
  // The same for a group and its pods that wait. True: GroupAttempts::PreemptionOver is called when
  // the victims are on their way.
  bool StartGroupPreemption(const api::PodGroup& group, std::span<const PodId> pods,
                            const framework::PodGroupPostFilterResult& result);
  // The result of an effect that was emitted here.
  void PreemptionResult(const Awaited& awaited, const EffectResult& result);
  // The victim was taken off its node in memory.
  void PreemptedInMemory(uint64_t id, size_t victim);
  // The pod is deleted, or terminates: who waits for it as the last victim may be queued again.
  void VictimLeaves(const cluster::Pod& pod);
  // No other pod is tried before a preemption is over.
  bool waited_for() const { return preemption_waited_for_; }

 private:
  // True: what follows the preemption follows its end, not now.
  bool Start(Preemption&& started, std::span<const PodId> victims, const PreemptionSize& size,
             const Failure& failure);
  void ClearNominations(uint64_t id);
  bool PreemptorIsThere(const Preemption& preemption) const;
  void ProceedPreemption(uint64_t id);
  void ProceedWaited(uint64_t id);
  void Evict(uint64_t id, size_t victim);
  void DeleteVictim(uint64_t id, size_t victim);
  // `note`: of the victim's event; empty: none.
  void VictimDone(uint64_t id, size_t victim, const std::string& note);
  bool EndsSilently(const cluster::Pod& victim) const;
  std::string NoteOf(const Preemption& preemption) const;
  void EvictLast(uint64_t id);
  // Whether the preemptor is kept out of the queue.
  void HoldBack(const Preemption& preemption, bool preempting);
  void FinishPreemption(uint64_t id);
  void TellExecuted(const Preemption& finished, bool success);

  EngineContext& c_;
  std::map<uint64_t, Preemption> preemptions_;
  uint64_t next_preemption_ = 1;
  bool preemption_waited_for_ = false;
};

}  // namespace berth::scheduler

// Outbox: the effects that the host is to carry out, and who waits for their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/pods/pod.h"
#include "scheduler/effects.h"

namespace berth::scheduler {

// Who waits for the result of an effect.
struct Awaited {
  enum class For : uint8_t {
    kBinding,
    kExpectation,  // the nomination of a pod that is being bound
    kNomination,
    kVictimCondition,
    kVictimDeletion,
    kActivate,
    kExtender
  };
  For what = For::kBinding;
  cluster::PodKey pod = {};  // that is being bound, or is activated when the effect fails
  uint64_t preemption = 0;
  size_t victim = 0;      // or the extender, or the PreBind plugin at work
  bool extender = false;  // is asked, not the API server
};

class Outbox {
 public:
  EffectId Emit(EffectAction action);
  void EmitAwaited(EffectAction action, Awaited awaited);
  // An event about `pod`, reported by the profile `scheduler_name`. `of_group`: `related` names a
  // PodGroup.
  void Record(const PodRef& pod, std::optional<PodRef> related, std::string_view type,
              std::string_view reason, std::string_view action, std::string note,
              std::string_view scheduler_name, bool of_group = false);

  // The effects since the last call, in order.
  std::vector<Effect> Take();
  // Who waited for the effect, once. Absent: nobody does, or nobody does any more.
  std::optional<Awaited> TakeAwaited(EffectId id);
  bool AwaitsExtender(EffectId id) const;

  size_t AwaitedCount() const { return awaited_.size(); }
  size_t AwaitedExtenders() const { return awaited_extenders_; }

 private:
  EffectId next_effect_ = 1;
  std::vector<Effect> effects_;
  size_t usual_effects_ = 32;  // how many were taken last
  boost::unordered_flat_map<EffectId, Awaited> awaited_;
  size_t awaited_extenders_ = 0;  // of them
};

}  // namespace berth::scheduler

#include "plugins/common/hints.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::plugins::default_preemption {

// A pod waits for its own preemption, whose end is told to the queue directly: no event helps it,
// but one that is registered keeps it from being tried again at every event.
std::vector<framework::RegisteredEvent> DefaultPreemption::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {
      OnAssignedPod(behaviour, queue::kDelete, "isPodSchedulableAfterAssignedPodDeletion",
                    "isPodSchedulableAfterPodDeletion",
                    [](const auto&, const auto&, const auto&) { return framework::Hint::kSkip; })};
}

}  // namespace berth::plugins::default_preemption

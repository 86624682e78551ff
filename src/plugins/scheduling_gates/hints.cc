#include "plugins/common/hints.h"
#include "plugins/scheduling_gates/scheduling_gates.h"

namespace berth::plugins::scheduling_gates {
namespace {

Result<framework::Hint> AfterGatesEliminated(const cluster::Cluster&, const cluster::Pod& pod,
                                             const queue::Event& event) {
  const auto* changed = event.New<cluster::Pod>();
  if (changed == nullptr) return NoObject("pod");
  return QueueIf(changed->uid == pod.uid);
}

}  // namespace

std::vector<framework::RegisteredEvent> SchedulingGates::EventsToRegister() const {
  return {On(queue::EventResource::kPod, queue::kUpdatePodSchedulingGatesEliminated,
             "isSchedulableAfterUpdatePodSchedulingGatesEliminated", AfterGatesEliminated)};
}

}  // namespace berth::plugins::scheduling_gates

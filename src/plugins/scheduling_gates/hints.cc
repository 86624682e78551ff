#include "plugins/common/hints.h"
#include "plugins/scheduling_gates/scheduling_gates.h"

namespace berth::plugins::scheduling_gates {
namespace {

Result<framework::Hint> AfterGatesEliminated(const cluster::Cluster&, const cluster::Pod& pod,
                                             const queue::Event& event) {
  const auto* changed = event.New<cluster::Pod>();
  if (changed == nullptr) return NoObject("pod");
  return QueueIf(IsAboutItself(event, *changed, pod));
}

}  // namespace

std::vector<framework::RegisteredEvent> SchedulingGates::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {OnTargetPod(behaviour, queue::kUpdatePodSchedulingGatesEliminated,
                      "isSchedulableAfterUpdateTargetPodSchedulingGatesEliminated",
                      "isSchedulableAfterUpdatePodSchedulingGatesEliminated",
                      AfterGatesEliminated)};
}

}  // namespace berth::plugins::scheduling_gates

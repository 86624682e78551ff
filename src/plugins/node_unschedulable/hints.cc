#include "plugins/common/hints.h"
#include "plugins/node_unschedulable/node_unschedulable.h"

namespace berth::plugins::node_unschedulable {
namespace {

using framework::Hint;

Result<Hint> AfterNodeChange(const cluster::Cluster&, const cluster::Pod&,
                             const queue::Event& event) {
  const auto* before = event.Old<api::Node>();
  const auto* after = event.New<api::Node>();
  if (after == nullptr) return NoObject("node");
  return QueueIf((before == nullptr || before->spec.unschedulable) && !after->spec.unschedulable);
}

Result<Hint> AfterTolerationChange(const cluster::Cluster&, const cluster::Pod& pod,
                                   const queue::Event& event) {
  const auto* changed = event.New<cluster::Pod>();
  if (changed == nullptr) return NoObject("pod");
  return QueueIf(IsAboutItself(event, *changed, pod) &&
                 ToleratesUnschedulable(changed->shape->source.spec.tolerations));
}

}  // namespace

std::vector<framework::RegisteredEvent> NodeUnschedulable::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeTaint,
             "isSchedulableAfterNodeChange", AfterNodeChange),
          OnTargetPod(behaviour, queue::kUpdatePodToleration,
                      "isSchedulableAfterTargetPodTolerationChange",
                      "isSchedulableAfterPodTolerationChange", AfterTolerationChange)};
}

}  // namespace berth::plugins::node_unschedulable

#include "plugins/common/hints.h"
#include "api/rules/toleration.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace berth::plugins::taint_toleration {
namespace {

using framework::Hint;

bool IsForbidden(const api::Node& node, const cluster::Pod& pod) {
  return api::FirstUntolerated(node.spec.taints, pod.shape->source.spec.tolerations,
                               api::ForbidsScheduling) != nullptr;
}

Result<Hint> AfterNodeChange(const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) {
  const auto* before = event.Old<api::Node>();
  const auto* after = event.New<api::Node>();
  if (after == nullptr) return NoObject("node");
  return QueueIf((before == nullptr || IsForbidden(*before, pod)) && !IsForbidden(*after, pod));
}

// Which taints the pod met is not known any more: any toleration may be the one it lacked.
Result<Hint> AfterTolerationChange(const cluster::Cluster&, const cluster::Pod& pod,
                                   const queue::Event& event) {
  const auto* changed = event.New<cluster::Pod>();
  if (changed == nullptr) return NoObject("pod");
  return QueueIf(IsAboutItself(event, *changed, pod));
}

}  // namespace

std::vector<framework::RegisteredEvent> TaintToleration::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeTaint,
             "isSchedulableAfterNodeChange", AfterNodeChange),
          OnTargetPod(behaviour, queue::kUpdatePodToleration,
                      "isSchedulableAfterTargetPodTolerationChange",
                      "isSchedulableAfterPodTolerationChange", AfterTolerationChange)};
}

}  // namespace berth::plugins::taint_toleration

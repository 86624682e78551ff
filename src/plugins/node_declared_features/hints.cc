#include "plugins/common/hints.h"
#include "plugins/node_declared_features/node_declared_features.h"

namespace berth::plugins::node_declared_features {

using framework::Hint;

Result<Hint> NodeDeclaredFeatures::AfterPodUpdate(const cluster::Pod& pod,
                                                  const queue::Event& event) const {
  const auto* before = event.Old<cluster::Pod>();
  const auto* after = event.New<cluster::Pod>();
  if (before == nullptr || after == nullptr) return NoObject("pod");
  if (!IsAboutItself(event, *after, pod)) return Hint::kSkip;
  return QueueIf(RequiredFeatures(before->shape->source.spec, behaviour_) !=
                 RequiredFeatures(after->shape->source.spec, behaviour_));
}

std::vector<framework::RegisteredEvent> NodeDeclaredFeatures::EventsToRegister(
    const config::Behaviour& behaviour) const {
  const auto after_node = [](const cluster::Cluster&, const cluster::Pod&,
                             const queue::Event& event) -> Result<Hint> {
    const auto* before = event.Old<api::Node>();
    const auto* after = event.New<api::Node>();
    if (after == nullptr) return NoObject("node");
    return QueueIf(before == nullptr ||
                   before->status.declared_features != after->status.declared_features);
  };
  return {On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeDeclaredFeature,
             "isSchedulableAfterNodeChange", after_node),
          OnTargetPod(behaviour, queue::kUpdate, "isSchedulableAfterTargetPodUpdate",
                      "isSchedulableAfterPodUpdate",
                      [this](const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) { return AfterPodUpdate(pod, event); })};
}

}  // namespace berth::plugins::node_declared_features

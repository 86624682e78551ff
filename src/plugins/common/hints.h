// What the queueing hints of several plugins share.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/core/persistent_volume_claim.h"
#include "api/core/volume.h"
#include "cluster/pods/pod.h"
#include "framework/points/queueing_hint.h"

namespace berth::plugins {

// An event without the object it is about; the pod is then tried again.
inline tl::unexpected<Error> NoObject(std::string_view kind) {
  return Fail("the event carries no " + std::string(kind));
}

inline framework::Hint QueueIf(bool helps) {
  return helps ? framework::Hint::kQueue : framework::Hint::kSkip;
}

inline framework::RegisteredEvent On(queue::EventResource resource, uint16_t action) {
  return {{resource, action}, {}, {}};
}
inline framework::RegisteredEvent On(queue::EventResource resource, uint16_t action,
                                     std::string_view hint, framework::HintFunction function) {
  return {{resource, action}, hint, std::move(function)};
}

// Events of pods: of others that have a node, and of the rejected pod itself. Where pod events are
// not split (up to 1.36), both are events of any pod, and the function has another name.
inline framework::RegisteredEvent OnAssignedPod(const config::Behaviour& behaviour, uint16_t action,
                                                std::string_view hint,
                                                std::string_view hint_of_any_pod,
                                                framework::HintFunction function) {
  if (behaviour.pod_events_split) {
    return On(queue::EventResource::kAssignedPod, action, hint, std::move(function));
  }
  return On(queue::EventResource::kPod, action, hint_of_any_pod, std::move(function));
}
inline framework::RegisteredEvent OnTargetPod(const config::Behaviour& behaviour, uint16_t action,
                                              std::string_view hint,
                                              std::string_view hint_of_any_pod,
                                              framework::HintFunction function) {
  if (behaviour.pod_events_split) {
    return On(queue::EventResource::kTargetPod, action, hint, std::move(function));
  }
  return On(queue::EventResource::kPod, action, hint_of_any_pod, std::move(function));
}

// Is the event about the rejected pod itself? Where the kind of event says so, as in kube-scheduler
// nobody compares.
inline bool IsAboutItself(const queue::Event& event, const cluster::Pod& changed,
                          const cluster::Pod& pod) {
  return event.what.resource == queue::EventResource::kTargetPod || changed.uid == pod.uid;
}

// Did the pod use anything of a node, or was some promised to it?
inline bool HasNode(const cluster::Pod& pod) {
  return !pod.node_name.empty() || !pod.nominated_node_name.empty();
}

// Is it the claim of one of the pod's volumes? `ephemeral`: those made for the pod count too.
bool UsesClaim(const cluster::Pod& pod, const api::PersistentVolumeClaim& claim, bool ephemeral);

}  // namespace berth::plugins

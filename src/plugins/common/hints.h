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

// Did the pod use anything of a node, or was some promised to it?
inline bool HasNode(const cluster::Pod& pod) {
  return !pod.node_name.empty() || !pod.nominated_node_name.empty();
}

// Is it the claim of one of the pod's volumes? `ephemeral`: those made for the pod count too.
bool UsesClaim(const cluster::Pod& pod, const api::PersistentVolumeClaim& claim, bool ephemeral);

}  // namespace berth::plugins

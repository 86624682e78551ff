// Queueing hints of PodTopologySpread. Only constraints that must hold can have refused a pod.
#include <algorithm>

#include <fmt/format.h>

#include "plugins/common/hints.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins::pod_topology_spread {
namespace {

using framework::Hint;
using Constraints = std::vector<Constraint>;

// Can the pod count for the one that was refused?
bool IsInvolved(const queue::Event& event, const cluster::Pod& changed, const cluster::Pod& refused,
                bool nominated_count) {
  if (IsAboutItself(event, changed, refused)) return true;
  const bool placed = nominated_count ? HasNode(changed) : !changed.node_name.empty();
  return placed && changed.namespace_() == refused.namespace_();
}

const api::StringMap& LabelsOf(const cluster::Pod& pod) {
  return pod.shape->source.metadata.labels;
}

// A pod that counts now and did not before, or the other way round.
bool CountsDifferently(const Constraints& constraints, const cluster::Pod& before,
                       const cluster::Pod& after) {
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& c) {
    return c.selector.Matches(LabelsOf(before)) != c.selector.Matches(LabelsOf(after));
  });
}

bool HasAllKeys(const Constraints& constraints, const api::Node& node) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& c) {
    return api::FindValue(node.metadata.labels, c.topology_key) != nullptr;
  });
}

// REQUIRES: both have all keys.
bool IsInOtherDomain(const Constraints& constraints, const api::Node& before,
                     const api::Node& after) {
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& c) {
    return *api::FindValue(before.metadata.labels, c.topology_key) !=
           *api::FindValue(after.metadata.labels, c.topology_key);
  });
}

}  // namespace

Result<Constraints> PodTopologySpread::HardConstraints(const cluster::Cluster& cluster,
                                                       const cluster::PodShape& shape) const {
  const auto& own = shape.source.spec.topology_spread_constraints;
  auto constraints =
      ConstraintsOf(own.empty() ? defaults_ : own, shape.source.metadata.labels, kDoNotSchedule);
  if (!constraints) {
    return Fail(fmt::format("{} hard topology spread constraints: {}",
                            own.empty() ? "setting default" : "obtaining pod's",
                            constraints.error().Message()));
  }
  if (!own.empty() || constraints->empty()) return constraints;
  const cluster::ObjectStore& objects = cluster.Objects();
  const api::Selector selector =
      DefaultSelector(services_.LabelsFor(shape, objects.services), shape, objects);
  if (selector.Empty()) return Constraints();
  for (Constraint& constraint : *constraints) constraint.selector = selector;
  return constraints;
}

const PodTopologySpread::HintConstraints& PodTopologySpread::ConstraintsForHints(
    const cluster::Cluster& cluster, const cluster::PodShape& shape) const {
  const auto make = [&](const cluster::PodShape&) {
    return HintConstraints{GenerationsOf(cluster.Objects()), HardConstraints(cluster, shape)};
  };
  HintConstraints& known = hint_constraints_.Get(shape, make);
  const bool from_defaults = shape.source.spec.topology_spread_constraints.empty();
  if (from_defaults && known.generations != GenerationsOf(cluster.Objects())) known = make(shape);
  return known;
}

// A pod with a long list waits for every event there is: events of equal pods are compared once.
bool PodTopologySpread::SelectsAny(const HintConstraints& known, const cluster::Pod& pod) {
  constexpr size_t kLongList = 64;
  constexpr size_t kMaxShapes = 16'384;
  const Constraints& constraints = *known.constraints;
  const auto compare = [&] {
    return std::any_of(constraints.begin(), constraints.end(),
                       [&](const Constraint& c) { return c.selector.Matches(LabelsOf(pod)); });
  };
  if (constraints.size() <= kLongList) return compare();
  const auto found = known.selects.find(pod.shape->serial);
  if (found != known.selects.end()) return found->second;
  if (known.selects.size() >= kMaxShapes) known.selects.clear();
  return known.selects.emplace(pod.shape->serial, compare()).first->second;
}

Result<Hint> PodTopologySpread::AfterPodChange(const cluster::Cluster& cluster,
                                               const cluster::Pod& pod, const queue::Event& event,
                                               bool nominated_count) const {
  const auto* before = event.Old<cluster::Pod>();
  const auto* after = event.New<cluster::Pod>();
  if (before == nullptr && after == nullptr) return NoObject("pod");
  if (before != nullptr && !IsInvolved(event, *before, pod, nominated_count)) return Hint::kSkip;
  if (after != nullptr && !IsInvolved(event, *after, pod, nominated_count)) return Hint::kSkip;
  const HintConstraints& known = ConstraintsForHints(cluster, *pod.shape);
  if (!known.constraints) return Fail(known.constraints.error());
  const Constraints& constraints = *known.constraints;
  if (before == nullptr || after == nullptr) {
    return QueueIf(SelectsAny(known, before == nullptr ? *after : *before));
  }
  // More tolerations may let the pod count more nodes.
  if (IsAboutItself(event, *after, pod) &&
      before->shape->source.spec.tolerations != after->shape->source.spec.tolerations &&
      std::any_of(constraints.begin(), constraints.end(),
                  [](const Constraint& c) { return c.honors_taints; })) {
    return Hint::kQueue;
  }
  return QueueIf(CountsDifferently(constraints, *before, *after));
}

Result<Hint> PodTopologySpread::AfterNodeChange(const cluster::Cluster& cluster,
                                                const cluster::Pod& pod,
                                                const queue::Event& event) const {
  const auto* before = event.Old<api::Node>();
  const auto* after = event.New<api::Node>();
  if (before == nullptr && after == nullptr) return NoObject("node");
  const HintConstraints& known = ConstraintsForHints(cluster, *pod.shape);
  if (!known.constraints) return Fail(known.constraints.error());
  const Constraints& constraints = *known.constraints;
  if (before == nullptr || after == nullptr) {
    return QueueIf(HasAllKeys(constraints, before == nullptr ? *after : *before));
  }
  const bool counted = HasAllKeys(constraints, *before);
  const bool counts = HasAllKeys(constraints, *after);
  if (counted != counts) return Hint::kQueue;
  return QueueIf(counts && (before->spec.taints != after->spec.taints ||
                            IsInOtherDomain(constraints, *before, *after)));
}

std::vector<framework::RegisteredEvent> PodTopologySpread::EventsToRegister(
    const config::Behaviour& behaviour) const {
  using enum queue::EventResource;
  const auto after_pod = [this, nominated_count = behaviour.hints_count_nominated_pods](
                             const cluster::Cluster& cluster, const cluster::Pod& pod,
                             const queue::Event& event) {
    return AfterPodChange(cluster, pod, event, nominated_count);
  };
  constexpr uint16_t kOfOthers = queue::kAdd | queue::kUpdatePodLabel | queue::kDelete;
  std::vector<framework::RegisteredEvent> events;
  if (behaviour.pod_events_split) {
    events = {On(kAssignedPod, kOfOthers, "isSchedulableAfterAssignedPodChange", after_pod),
              On(kTargetPod, queue::kUpdatePodToleration | queue::kUpdatePodLabel,
                 "isSchedulableAfterTargetPodChange", after_pod)};
  } else {
    events = {On(kPod, kOfOthers | queue::kUpdatePodToleration, "isSchedulableAfterPodChange",
                 after_pod)};
  }
  events.push_back(
      On(kNode, queue::kAdd | queue::kDelete | queue::kUpdateNodeLabel | queue::kUpdateNodeTaint,
         "isSchedulableAfterNodeChange",
         [this](const cluster::Cluster& cluster, const cluster::Pod& pod,
                const queue::Event& event) { return AfterNodeChange(cluster, pod, event); }));
  return events;
}

}  // namespace berth::plugins::pod_topology_spread

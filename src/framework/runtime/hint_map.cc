#include "framework/runtime/hint_map.h"

#include <bit>
#include <utility>

#include <fmt/format.h>

namespace berth::framework {
namespace {

using queue::ClusterEvent;
using queue::EventResource;

// The kinds of plugin that can keep a pod from being scheduled.
bool CanReject(const Plugin& plugin) {
  return dynamic_cast<const PreEnqueuePlugin*>(&plugin) != nullptr ||
         dynamic_cast<const PreFilterPlugin*>(&plugin) != nullptr ||
         dynamic_cast<const FilterPlugin*>(&plugin) != nullptr ||
         dynamic_cast<const ReservePlugin*>(&plugin) != nullptr ||
         dynamic_cast<const PermitPlugin*>(&plugin) != nullptr;
}

// Up to 1.36 kube-scheduler may leave a new node out of Node/Add as long as it has a taint that
// goes away soon, so plugins that registered for new nodes are also called for taints.
bool NeedsTaints(const std::vector<RegisteredEvent>& events) {
  uint16_t actions = 0;
  for (const RegisteredEvent& registered : events) {
    if (registered.event.resource == EventResource::kNode) actions |= registered.event.action;
  }
  return (actions & queue::kAdd) != 0 && (actions & queue::kUpdateNodeTaint) == 0;
}

}  // namespace

queue::EventRules EventRulesOf(const config::Behaviour& behaviour) {
  return {behaviour.pod_events_split, behaviour.node_declared_features, behaviour.requests};
}

std::vector<ClusterEvent> IncomingEvents(const config::Behaviour& behaviour) {
  using enum EventResource;
  std::vector<uint16_t> of_pods{
      queue::kUpdatePodLabel, queue::kUpdatePodScaleDown, queue::kUpdatePodToleration,
      queue::kUpdatePodSchedulingGatesEliminated, queue::kUpdatePodGeneratedResourceClaim};
  std::vector<uint16_t> of_nodes{queue::kUpdateNodeAllocatable, queue::kUpdateNodeLabel,
                                 queue::kUpdateNodeTaint, queue::kUpdateNodeCondition,
                                 queue::kUpdateNodeAnnotation};
  std::vector<EventResource> pods{kAssignedPod, kUnschedulablePod};
  if (behaviour.node_feature_events) of_nodes.push_back(queue::kUpdateNodeDeclaredFeature);
  if (behaviour.pod_events_split) {
    of_pods.push_back(queue::kUpdatePodScaleUp);
    of_nodes.push_back(queue::kUpdateNodePreemptionPolicy);
    pods = {kAssignedPod, kUnscheduledPod, kTargetPod};
  }
  std::vector<ClusterEvent> events;
  const auto add = [&](EventResource resource, const std::vector<uint16_t>& updates) {
    for (const uint16_t action : {queue::kAdd, queue::kDelete, queue::kUpdate}) {
      events.push_back({resource, action});
    }
    for (const uint16_t update : updates) events.push_back({resource, update});
  };
  for (const EventResource pod : pods) add(pod, of_pods);
  add(kNode, of_nodes);
  for (auto r = static_cast<uint8_t>(kPersistentVolume); r < static_cast<uint8_t>(kWildCard); ++r) {
    add(static_cast<EventResource>(r), {});
  }
  if (behaviour.pod_groups) add(kPodGroup, {});
  events.push_back(queue::kUnschedulableTimeout);
  events.push_back(queue::kForceActivate);
  return events;
}

std::vector<RegisteredEvent> DefaultEvents(const config::Behaviour& behaviour) {
  using enum EventResource;
  std::vector<EventResource> resources{kPod};
  if (behaviour.pod_events_split) resources = {kAssignedPod, kUnscheduledPod, kTargetPod};
  resources.insert(resources.end(),
                   {kNode, kPersistentVolume, kPersistentVolumeClaim, kCSINode, kCSIDriver,
                    kCSIStorageCapacity, kStorageClass, kResourceClaim, kDeviceClass});
  if (behaviour.pod_groups) resources.push_back(kPodGroup);
  std::vector<RegisteredEvent> events;
  for (const EventResource resource : resources) {
    events.push_back({{resource, queue::kAll}, {}, {}});
  }
  return events;
}

size_t HintMap::Slot(const ClusterEvent& event) {
  size_t action = kActionSlots - 1;
  if (event.action == queue::kAll) {
    action = kAllSlot;
  } else if (event.action == queue::kUpdate) {
    action = kUpdateSlot;
  } else if (std::has_single_bit(event.action) && event.action < queue::kAll) {
    action = static_cast<size_t>(std::countr_zero(event.action));
  }
  return static_cast<size_t>(event.resource) * kActionSlots + action;
}

Result<HintMap> HintMap::Make(const Profile& profile, bool with_extenders) {
  const auto plugins = profile.Plugins();
  if (plugins.size() + (with_extenders ? 1 : 0) > kMaxPlugins) {
    return Fail(fmt::format("profile \"{}\" has more than {} plugins", profile.Name(),
                            kMaxPlugins - (with_extenders ? 1 : 0)));
  }
  const config::Behaviour& behaviour = profile.GetBehaviour();
  HintMap map;
  map.extender_ = static_cast<uint8_t>(plugins.size());
  for (uint8_t i = 0; i < map.extender_; ++i) {
    const Plugin& plugin = *plugins[i];
    if (!CanReject(plugin)) continue;
    const auto* extensions = dynamic_cast<const EnqueueExtensions*>(&plugin);
    std::vector<RegisteredEvent> events =
        extensions != nullptr ? extensions->EventsToRegister(behaviour) : DefaultEvents(behaviour);
    if (extensions == nullptr) {
      events.push_back({{EventResource::kCustomResource, queue::kAll}, {}, {}});
    }
    map.Register(i, std::move(events), behaviour);
  }
  if (with_extenders) map.Register(map.extender_, DefaultEvents(behaviour), behaviour);
  map.Index(behaviour);
  return map;
}

void HintMap::Register(uint8_t plugin, std::vector<RegisteredEvent> events,
                       const config::Behaviour& behaviour) {
  if (behaviour.node_add_implies_taint && NeedsTaints(events)) {
    events.push_back({{EventResource::kNode, queue::kUpdateNodeTaint}, {}, {}});
  }
  for (RegisteredEvent& event : events) registrations_.push_back({plugin, std::move(event)});
}

void HintMap::Index(const config::Behaviour& behaviour) {
  std::vector<ClusterEvent> all = IncomingEvents(behaviour);
  for (const uint16_t action : {queue::kAdd, queue::kDelete, queue::kUpdate}) {
    all.push_back({EventResource::kCustomResource, action});
  }
  for (const ClusterEvent& incoming : all) {
    Range range;
    range.begin = static_cast<uint32_t>(lists_.size());
    for (const Registration& registration : registrations_) {
      if (!queue::Matches(registration.registered.event, incoming)) continue;
      lists_.push_back(&registration);
      range.plugins |= uint64_t{1} << registration.plugin;
    }
    range.end = static_cast<uint32_t>(lists_.size());
    ranges_[Slot(incoming)] = range;
  }
}

Result<Hint> HintMap::Ask(uint8_t plugin, const cluster::Cluster& cluster, const cluster::Pod& pod,
                          const queue::Event& event) const {
  for (const Registration* registration : For(event.what)) {
    if (registration->plugin != plugin) continue;
    if (!registration->registered.function) return Hint::kQueue;
    auto hint = registration->registered.function(cluster, pod, event);
    if (!hint || *hint == Hint::kQueue) return hint;
  }
  return Hint::kSkip;
}

}  // namespace berth::framework

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

// kube-scheduler may leave a new node out of Node/Add as long as it has a taint that goes away
// soon, so plugins that registered for new nodes are also called for taints.
bool NeedsTaints(const std::vector<RegisteredEvent>& events) {
  uint16_t actions = 0;
  for (const RegisteredEvent& registered : events) {
    if (registered.event.resource == EventResource::kNode) actions |= registered.event.action;
  }
  return (actions & queue::kAdd) != 0 && (actions & queue::kUpdateNodeTaint) == 0;
}

}  // namespace

std::vector<ClusterEvent> IncomingEvents() {
  std::vector<ClusterEvent> events;
  const auto add = [&](EventResource resource, uint16_t first_update, uint16_t last_update) {
    for (const uint16_t action : {queue::kAdd, queue::kDelete, queue::kUpdate}) {
      events.push_back({resource, action});
    }
    for (uint32_t bit = first_update; bit <= last_update && bit != 0; bit <<= 1) {
      events.push_back({resource, static_cast<uint16_t>(bit)});
    }
  };
  for (const auto pod : {EventResource::kAssignedPod, EventResource::kUnschedulablePod}) {
    add(pod, queue::kUpdatePodLabel, queue::kUpdatePodGeneratedResourceClaim);
  }
  add(EventResource::kNode, queue::kUpdateNodeAllocatable, queue::kUpdateNodeAnnotation);
  for (auto r = static_cast<uint8_t>(EventResource::kPersistentVolume);
       r < static_cast<uint8_t>(EventResource::kWildCard); ++r) {
    add(static_cast<EventResource>(r), 0, 0);
  }
  events.push_back(queue::kUnschedulableTimeout);
  events.push_back(queue::kForceActivate);
  return events;
}

std::vector<RegisteredEvent> DefaultEvents() {
  using enum EventResource;
  std::vector<RegisteredEvent> events;
  for (const EventResource resource :
       {kPod, kNode, kPersistentVolume, kPersistentVolumeClaim, kCSINode, kCSIDriver,
        kCSIStorageCapacity, kStorageClass, kResourceClaim, kDeviceClass}) {
    events.push_back({{resource, queue::kAll}, {}, {}});
  }
  return events;
}

size_t HintMap::Slot(const ClusterEvent& event) {
  size_t action = kActionSlots - 1;
  if (event.action == queue::kAll) {
    action = 13;
  } else if (event.action == queue::kUpdate) {
    action = 12;
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
  HintMap map;
  map.extender_ = static_cast<uint8_t>(plugins.size());
  for (uint8_t i = 0; i < map.extender_; ++i) {
    const Plugin& plugin = *plugins[i];
    if (!CanReject(plugin)) continue;
    const auto* extensions = dynamic_cast<const EnqueueExtensions*>(&plugin);
    map.Register(i, extensions != nullptr ? extensions->EventsToRegister() : DefaultEvents());
  }
  if (with_extenders) map.Register(map.extender_, DefaultEvents());
  map.Index();
  return map;
}

void HintMap::Register(uint8_t plugin, std::vector<RegisteredEvent> events) {
  if (NeedsTaints(events)) {
    events.push_back({{EventResource::kNode, queue::kUpdateNodeTaint}, {}, {}});
  }
  for (RegisteredEvent& event : events) registrations_.push_back({plugin, std::move(event)});
}

void HintMap::Index() {
  for (const ClusterEvent& incoming : IncomingEvents()) {
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

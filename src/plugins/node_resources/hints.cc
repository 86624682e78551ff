// Queueing hints of NodeResourcesFit.
#include <algorithm>

#include "api/resource/device_class.h"
#include "api/rules/resource_name.h"
#include "plugins/common/extended_resource.h"
#include "plugins/common/hints.h"
#include "plugins/node_resources/fit.h"

namespace berth::plugins::node_resources {
namespace {

// The resource that every class stands for.
constexpr std::string_view kClassPrefix = "deviceclass.resource.kubernetes.io/";

using cluster::Amounts;
using framework::Hint;

// What an empty node has. Names nobody has asked for have no id and do not matter.
struct Capacity {
  Amounts amounts;
  int64_t pods = 0;
};

Capacity CapacityOf(const cluster::Cluster& cluster, const api::Node& node) {
  Capacity capacity;
  for (const auto& [name, quantity] : node.status.allocatable) {
    if (name == "cpu") {
      capacity.amounts.cpu = quantity.MilliValue();
    } else if (name == "memory") {
      capacity.amounts.memory = quantity.Value();
    } else if (name == "ephemeral-storage") {
      capacity.amounts.ephemeral_storage = quantity.Value();
    } else if (name == "pods") {
      capacity.pods = quantity.Value();
    } else if (const auto id = cluster.Resources().Find(name);
               id != cluster::kNoResource && api::IsScalarResource(name)) {
      capacity.amounts.scalars.emplace_back(id, quantity.Value());
    }
  }
  return capacity;
}

// Calls f(id, amount) for what the pod asks for, until it says true; did it?
template <class F>
bool AnyRequested(const Amounts& requests, F&& f) {
  if (requests.cpu > 0 && f(cluster::kCpu, requests.cpu)) return true;
  if (requests.memory > 0 && f(cluster::kMemory, requests.memory)) return true;
  if (requests.ephemeral_storage > 0 && f(cluster::kEphemeralStorage, requests.ephemeral_storage)) {
    return true;
  }
  return std::any_of(requests.scalars.begin(), requests.scalars.end(), [&](const auto& scalar) {
    return scalar.second != 0 && f(scalar.first, scalar.second);
  });
}

// May devices of the node stand for it?
bool IsLeftToDevices(const config::DraFeatures& features, const cluster::Cluster& cluster,
                     const Capacity& node, cluster::ResourceId id) {
  if (!features.extended_resource || id == cluster::kCpu || id == cluster::kMemory ||
      id == cluster::kEphemeralStorage) {
    return false;
  }
  if (features.resources_by_class) {
    return node.amounts.Get(id) <= 0 &&
           FindClassOfResource(features, cluster.Objects(), cluster.Resources().Name(id)) !=
               nullptr;
  }
  const auto& scalars = node.amounts.scalars;
  return std::none_of(scalars.begin(), scalars.end(),
                      [&](const auto& scalar) { return scalar.first == id; });
}

// As in kube-scheduler, ignored resources count here.
Result<Hint> AfterNodeChange(const config::DraFeatures& features, const cluster::Cluster& cluster,
                             const cluster::Pod& pod, const queue::Event& event) {
  const auto* node = event.New<api::Node>();
  if (node == nullptr) return Hint::kSkip;
  const Amounts& requests = pod.shape->fit;
  const Capacity after = CapacityOf(cluster, *node);
  if (after.pods < 1) return Hint::kSkip;
  if (AnyRequested(requests, [&](auto id, int64_t amount) {
        return amount > after.amounts.Get(id) && !IsLeftToDevices(features, cluster, after, id);
      })) {
    return Hint::kSkip;
  }
  const auto* old_node = event.Old<api::Node>();
  if (old_node == nullptr) return Hint::kQueue;
  const Capacity before = CapacityOf(cluster, *old_node);
  return QueueIf(after.pods > before.pods || AnyRequested(requests, [&](auto id, int64_t) {
                   return after.amounts.Get(id) > before.amounts.Get(id) ||
                          IsLeftToDevices(features, cluster, after, id);
                 }));
}

// Has the pod that was resized given back some of what is asked for?
bool GivesBack(const cluster::Pod& before, const cluster::Pod& after, const Amounts& wanted) {
  const auto less = [&](cluster::ResourceId id) {
    return std::max<int64_t>(0, before.shape->on_node.Get(id)) >
           std::max<int64_t>(0, after.shape->on_node.Get(id));
  };
  if (wanted.cpu != 0 && less(cluster::kCpu)) return true;
  if (wanted.memory != 0 && less(cluster::kMemory)) return true;
  if (wanted.ephemeral_storage != 0 && less(cluster::kEphemeralStorage)) return true;
  return std::any_of(wanted.scalars.begin(), wanted.scalars.end(),
                     [&](const auto& scalar) { return scalar.second != 0 && less(scalar.first); });
}

Result<Hint> AfterPodEvent(const cluster::Cluster&, const cluster::Pod& pod,
                           const queue::Event& event) {
  const auto* before = event.Old<cluster::Pod>();
  const auto* after = event.New<cluster::Pod>();
  if (before == nullptr) return NoObject("pod");
  if (after == nullptr) return QueueIf(HasNode(*before));
  if (IsAboutItself(event, *after, pod)) return Hint::kQueue;
  if (after->node_name.empty()) return Hint::kSkip;
  return QueueIf(GivesBack(*before, *after, pod.shape->on_node));
}

// A class that has come to stand for a resource of the pod.
Result<Hint> AfterDeviceClassEvent(const cluster::Cluster&, const cluster::Pod& pod,
                                   const queue::Event& event) {
  const auto* before = event.Old<api::DeviceClass>();
  const auto* after = event.New<api::DeviceClass>();
  if (after == nullptr) return NoObject("device class");
  const auto& resource = after->spec.extended_resource_name;
  if (before != nullptr &&
      before->spec.extended_resource_name.value_or("") == resource.value_or("")) {
    return Hint::kSkip;
  }
  const api::ResourceList requests = api::PodRequests(pod.shape->source);
  if (before == nullptr && requests.contains(std::string(kClassPrefix) + after->metadata.name)) {
    return Hint::kQueue;
  }
  return QueueIf(resource && requests.contains(*resource));
}

}  // namespace

std::vector<framework::RegisteredEvent> Fit::EventsToRegister(
    const config::Behaviour& behaviour) const {
  using enum queue::EventResource;
  const bool split = behaviour.pod_events_split;
  const auto resize = [&](uint16_t action) {
    return behaviour.in_place_scaling ? action : uint16_t{0};
  };
  std::vector<framework::RegisteredEvent> events{
      split ? On(kAssignedPod, queue::kDelete, "isSchedulableAfterAssignedPodDelete", AfterPodEvent)
            : On(kPod, queue::kDelete | resize(queue::kUpdatePodScaleDown),
                 "isSchedulableAfterPodEvent", AfterPodEvent),
      On(kNode, queue::kAdd | queue::kUpdateNodeAllocatable, "isSchedulableAfterNodeChange",
         [features = behaviour.dra](const cluster::Cluster& cluster, const cluster::Pod& pod,
                                    const queue::Event& event) {
           return AfterNodeChange(features, cluster, pod, event);
         })};
  if (behaviour.dra.extended_resource && behaviour.dra.resources_by_class) {
    events.push_back(On(kDeviceClass, queue::kAdd | queue::kUpdate,
                        "isSchedulableAfterDeviceClassEvent", AfterDeviceClassEvent));
  }
  if (split && behaviour.in_place_scaling) {
    events.push_back(On(kAssignedPod, queue::kUpdatePodScaleDown,
                        "isSchedulableAfterAssignedPodScaleDown", AfterPodEvent));
    events.push_back(On(kTargetPod, queue::kUpdatePodScaleDown,
                        "isSchedulableAfterTargetPodScaleDown", AfterPodEvent));
  }
  return events;
}

}  // namespace berth::plugins::node_resources

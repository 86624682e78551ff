// ClusterEvent: the type of an event, as queueing hints register it. Event: the same with the
// objects concerned.
//
// Plugins register the events that may make a rejected pod schedulable; event handlers produce
// them. Names and bit order are kube-scheduler's, because they show in metrics and because matching
// compares them as integers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/rules/pod_requests.h"
#include "cluster/objects/event_resource.h"
#include "cluster/pods/pod.h"

namespace berth::queue {

using cluster::EventResource;

// Bits combine. Minors that lack some of them have the others in the same order.
enum Action : uint16_t {
  kAdd = 1u << 0,
  kDelete = 1u << 1,
  kUpdateNodeAllocatable = 1u << 2,
  kUpdateNodeLabel = 1u << 3,
  kUpdateNodeTaint = 1u << 4,
  kUpdateNodeCondition = 1u << 5,
  kUpdateNodeAnnotation = 1u << 6,
  kUpdateNodeDeclaredFeature = 1u << 7,
  kUpdateNodePreemptionPolicy = 1u << 8,
  kUpdatePodLabel = 1u << 9,
  kUpdatePodScaleDown = 1u << 10,
  kUpdatePodScaleUp = 1u << 11,
  kUpdatePodToleration = 1u << 12,
  kUpdatePodSchedulingGatesEliminated = 1u << 13,
  kUpdatePodGeneratedResourceClaim = 1u << 14,
  kUpdate = 0x7ffc,  // any of the thirteen above
  kAll = 0x7fff,
};
inline constexpr uint16_t kActionCount = 15;

struct ClusterEvent {
  EventResource resource = EventResource::kWildCard;
  uint16_t action = 0;
  std::string_view custom_label = {};  // static string; for the wildcard events

  bool IsWildCard() const { return resource == EventResource::kWildCard && action == kAll; }
  // kube-scheduler's label, e.g. "NodeUpdateNodeTaint"; it is the `event` of metrics.
  std::string Label() const;
  bool operator==(const ClusterEvent& other) const {
    return resource == other.resource && action == other.action;
  }
};

// Events without an object.
inline constexpr ClusterEvent kUnschedulableTimeout{EventResource::kWildCard, kAll,
                                                    "UnschedulableTimeout"};
inline constexpr ClusterEvent kForceActivate{EventResource::kWildCard, kAll, "ForceActivate"};

// kube-scheduler's name of the resource, e.g. "storage.k8s.io/CSINode".
std::string_view ResourceName(EventResource resource);

// Does an incoming event match the registered event?
bool Matches(const ClusterEvent& registered, const ClusterEvent& incoming);

// A snapshot of a pod, which keeps its shape alive (Cluster::Snapshot).
using PodSnapshot = std::shared_ptr<const cluster::Pod>;

// The object of an event, of any kind, or none.
class EventObject {
 public:
  EventObject() = default;
  template <class T>
  EventObject(std::shared_ptr<const T> object)  // NOLINT(google-explicit-constructor)
      : type_(object == nullptr ? nullptr : &kType<T>), object_(std::move(object)) {}

  explicit operator bool() const { return object_ != nullptr; }
  // Null when there is none of that type.
  template <class T>
  const T* As() const {
    return type_ == &kType<T> ? static_cast<const T*>(object_.get()) : nullptr;
  }

 private:
  // Its address names the type.
  template <class T>
  static constexpr char kType = 0;

  const char* type_ = nullptr;
  std::shared_ptr<const void> object_;
};

struct Event {
  ClusterEvent what;
  EventObject old_object;  // none when it was added
  EventObject new_object;  // none when it was deleted

  // The object as a T, null when there is none of that type.
  template <class T>
  const T* Old() const {
    return old_object.As<T>();
  }
  template <class T>
  const T* New() const {
    return new_object.As<T>();
  }
};

// Which events there are; differs between Kubernetes minors.
struct EventRules {
  // Pods are three resources, so that a plugin can ask for changes of the pod itself; and there is
  // an event for a pod that asks for more.
  bool split_pods = false;
  bool node_features = false;  // features that nodes declare are told apart
  api::RequestRules requests;

  // What a pending pod is to others.
  EventResource PendingPod() const {
    return split_pods ? EventResource::kUnscheduledPod : EventResource::kUnschedulablePod;
  }
};

// What changed between two versions of a pod, in kube-scheduler's order. If nothing specific
// changed, returns one general update. The resource is kAssignedPod when the new version has a
// node, else that of the pod itself.
std::vector<ClusterEvent> PodChanges(const cluster::Pod& old_pod, const cluster::Pod& new_pod,
                                     const EventRules& rules = {});

// The same for a node; may be empty.
std::vector<ClusterEvent> NodeChanges(const api::Node& old_node, const api::Node& new_node,
                                      const EventRules& rules = {});

}  // namespace berth::queue

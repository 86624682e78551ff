#include "plugins/common/hints.h"
#include "cluster/pods/group_members.h"
#include "plugins/gang_scheduling/gang_scheduling.h"

namespace berth::plugins::gang_scheduling {
namespace {

using framework::Hint;
using queue::EventResource;

bool IsIn(const cluster::Pod& pod, std::string_view namespace_, std::string_view group) {
  const std::string* own = cluster::GroupNameOf(pod);
  return own != nullptr && *own == group && pod.namespace_() == namespace_;
}

Result<Hint> AfterPodAdded(const cluster::Cluster&, const cluster::Pod& pod,
                           const queue::Event& event) {
  const auto* added = event.New<cluster::Pod>();
  if (added == nullptr) return NoObject("pod");
  const std::string* group = cluster::GroupNameOf(*added);
  return QueueIf(group != nullptr && IsIn(pod, added->namespace_(), *group));
}

Result<Hint> AfterGroupAdded(const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) {
  const auto* group = event.New<api::PodGroup>();
  if (group == nullptr) return NoObject("pod group");
  return QueueIf(IsIn(pod, group->metadata.namespace_, group->metadata.name));
}

// Only a smaller minCount helps.
Result<Hint> AfterGroupUpdated(const cluster::Cluster&, const cluster::Pod& pod,
                               const queue::Event& event) {
  const auto* before = event.Old<api::PodGroup>();
  const auto* group = event.New<api::PodGroup>();
  if (group == nullptr || before == nullptr) return NoObject("pod group");
  if (!IsIn(pod, group->metadata.namespace_, group->metadata.name)) return Hint::kSkip;
  const auto& old_gang = before->spec.scheduling_policy.gang;
  const auto& gang = group->spec.scheduling_policy.gang;
  return QueueIf(old_gang && gang && gang->min_count < old_gang->min_count);
}

}  // namespace

// Where pod events are not split (up to 1.36), only groups of other APIs are scheduled.
std::vector<framework::RegisteredEvent> GangScheduling::EventsToRegister(
    const config::Behaviour& behaviour) const {
  constexpr std::string_view kAfterPod = "isSchedulableAfterPodAdded";
  std::vector<framework::RegisteredEvent> events;
  if (behaviour.pod_events_split) {
    events.push_back(On(EventResource::kUnscheduledPod, queue::kAdd, kAfterPod, AfterPodAdded));
    events.push_back(On(EventResource::kAssignedPod, queue::kAdd, kAfterPod, AfterPodAdded));
  } else {
    events.push_back(On(EventResource::kPod, queue::kAdd, kAfterPod, AfterPodAdded));
  }
  events.push_back(On(EventResource::kPodGroup, queue::kAdd, "isSchedulableAfterPodGroupAdded",
                      AfterGroupAdded));
  events.push_back(On(EventResource::kPodGroup, queue::kUpdate, "isSchedulableAfterPodGroupUpdated",
                      AfterGroupUpdated));
  return events;
}

}  // namespace berth::plugins::gang_scheduling

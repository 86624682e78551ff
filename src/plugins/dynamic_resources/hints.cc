#include <algorithm>

#include "plugins/common/hints.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/taint_rules.h"

namespace berth::plugins::dynamic_resources {
namespace {

using framework::Hint;

Result<Hint> AfterClaimChange(const cluster::Cluster& cluster, const cluster::Pod& pod,
                              const queue::Event& event) {
  const auto* before = event.Old<api::ResourceClaim>();
  const auto* after = event.New<api::ResourceClaim>();
  if (before == nullptr && after == nullptr) return NoObject("resource claim");
  if (after == nullptr) return QueueIf(before->status.allocation.has_value());
  const auto claims = PodClaims(cluster.Objects(), pod);
  if (!claims) return Hint::kSkip;  // the pod still lacks some
  // Devices that were given back may be what the pod lacked.
  if (before != nullptr && before->status.allocation && !after->status.allocation) {
    return Hint::kQueue;
  }
  if (std::none_of(claims->begin(), claims->end(), [&](const api::ResourceClaim* claim) {
        return claim->metadata.uid == after->metadata.uid;
      })) {
    return Hint::kSkip;
  }
  return QueueIf(before == nullptr || before->status != after->status);
}

Result<Hint> AfterPodChange(const cluster::Cluster& cluster, const cluster::Pod& pod,
                            const queue::Event& event) {
  const auto* changed = event.New<cluster::Pod>();
  if (changed == nullptr) return NoObject("pod");
  return QueueIf(IsAboutItself(event, *changed, pod) &&
                 PodClaims(cluster.Objects(), *changed).has_value());
}

// A rule helps if it may concern a slice. A change of a slice itself always may.
Result<Hint> AfterSliceChange(const config::DraFeatures& features, const cluster::Cluster& cluster,
                              const queue::Event& event) {
  const auto* before = event.Old<api::DeviceTaintRule>();
  const auto* after = event.New<api::DeviceTaintRule>();
  if (before == nullptr && after == nullptr) return Hint::kQueue;
  if (before != nullptr && after != nullptr && before->spec == after->spec) return Hint::kSkip;
  bool concerns = false;
  cluster.Objects().resource_slices.ForEach([&](const api::ResourceSlice& slice) {
    concerns = concerns || (before != nullptr && MayConcern(features, *before, slice.spec)) ||
               (after != nullptr && MayConcern(features, *after, slice.spec));
  });
  return QueueIf(concerns);
}

}  // namespace

std::vector<framework::RegisteredEvent> DynamicResources::EventsToRegister(
    const config::Behaviour& behaviour) const {
  using enum queue::EventResource;
  constexpr uint16_t kAddOrUpdate = queue::kAdd | queue::kUpdate;
  const uint16_t of_claims = behaviour.claim_deletion_events ? uint16_t{queue::kAll} : kAddOrUpdate;
  return {
      On(kNode, queue::kAdd | queue::kUpdateNodeLabel | queue::kUpdateNodeAllocatable),
      On(kResourceClaim, of_claims, "isSchedulableAfterClaimChange", AfterClaimChange),
      OnTargetPod(behaviour, queue::kUpdatePodGeneratedResourceClaim,
                  "isSchedulableAfterTargetPodUpdate", "isSchedulableAfterPodChange",
                  AfterPodChange),
      On(kDeviceClass, kAddOrUpdate),
      On(kResourceSlice, kAddOrUpdate, "",
         [this](const cluster::Cluster& cluster, const cluster::Pod&, const queue::Event& event) {
           return AfterSliceChange(features_, cluster, event);
         })};
}

}  // namespace berth::plugins::dynamic_resources

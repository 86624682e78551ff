#include <algorithm>
#include <string_view>

#include <boost/unordered/unordered_flat_set.hpp>

#include "plugins/common/hints.h"
#include "plugins/volume_restrictions/volume_restrictions.h"

namespace berth::plugins::volume_restrictions {
namespace {

using framework::Hint;
using Volumes = std::vector<api::Volume>;

bool HaveConflict(const Volumes& wanted, const Volumes& held) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const api::Volume& want) {
    return std::any_of(held.begin(), held.end(),
                       [&](const api::Volume& have) { return Conflicts(want, have); });
  });
}

// Whether a shared claim allows one pod only is not looked up: any shared claim will do.
bool ShareClaim(const Volumes& a, const Volumes& b) {
  boost::unordered_flat_set<std::string_view> claims;
  for (const api::Volume& volume : a) {
    if (volume.persistent_volume_claim) claims.insert(volume.persistent_volume_claim->claim_name);
  }
  return std::any_of(b.begin(), b.end(), [&](const api::Volume& volume) {
    return volume.persistent_volume_claim &&
           claims.contains(volume.persistent_volume_claim->claim_name);
  });
}

Result<Hint> AfterPodDeleted(const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) {
  const auto* deleted = event.Old<cluster::Pod>();
  if (deleted == nullptr) return NoObject("pod");
  if (deleted->namespace_() != pod.namespace_()) return Hint::kSkip;
  const Volumes& wanted = pod.shape->source.spec.volumes;
  const Volumes& held = deleted->shape->source.spec.volumes;
  return QueueIf(HaveConflict(wanted, held) || ShareClaim(wanted, held));
}

Result<Hint> AfterClaimAdded(const cluster::Cluster&, const cluster::Pod& pod,
                             const queue::Event& event) {
  const auto* claim = event.New<api::PersistentVolumeClaim>();
  if (claim == nullptr) return NoObject("persistent volume claim");
  return QueueIf(UsesClaim(pod, *claim, /*ephemeral=*/false));
}

}  // namespace

std::vector<framework::RegisteredEvent> VolumeRestrictions::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {OnAssignedPod(behaviour, queue::kDelete, "isSchedulableAfterAssignedPodDeleted",
                        "isSchedulableAfterPodDeleted", AfterPodDeleted),
          On(queue::EventResource::kNode, queue::kAdd),
          On(queue::EventResource::kPersistentVolumeClaim, queue::kAdd,
             "isSchedulableAfterPersistentVolumeClaimAdded", AfterClaimAdded)};
}

}  // namespace berth::plugins::volume_restrictions

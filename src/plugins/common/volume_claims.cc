#include "plugins/common/volume_claims.h"

#include <fmt/format.h>

#include "api/go/go_text.h"

namespace berth::plugins {

VolumeClaim ClaimOf(const cluster::Pod& pod, const api::Volume& volume) {
  if (volume.persistent_volume_claim) {
    return {VolumeClaim::Kind::kClaim, volume.persistent_volume_claim->claim_name};
  }
  if (volume.ephemeral) return {VolumeClaim::Kind::kEphemeral, pod.name + "-" + volume.name};
  return {};
}

bool IsControlledBy(const api::PersistentVolumeClaim& claim, const cluster::Pod& pod) {
  if (claim.metadata.namespace_ != pod.namespace_()) return false;
  for (const api::OwnerReference& owner : claim.metadata.owner_references) {
    if (owner.controller.value_or(false)) return owner.uid == pod.uid;
  }
  return false;
}

std::string NotMadeForPod(const api::PersistentVolumeClaim& claim, const cluster::Pod& pod) {
  return fmt::format("PVC {}/{} was not created for pod {} (pod is not owner)",
                     claim.metadata.namespace_, claim.metadata.name, pod.Key());
}

std::string_view ClassOf(const api::PersistentVolumeClaim& claim) {
  const auto it = claim.metadata.annotations.find(kBetaClassAnnotation);
  if (it != claim.metadata.annotations.end()) return it->second;
  return claim.spec.storage_class_name ? std::string_view(*claim.spec.storage_class_name)
                                       : std::string_view();
}

std::string_view ClassOf(const api::PersistentVolume& volume) {
  const auto it = volume.metadata.annotations.find(kBetaClassAnnotation);
  if (it != volume.metadata.annotations.end()) return it->second;
  return volume.spec.storage_class_name;
}

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         claim.metadata.annotations.contains(kBindCompletedAnnotation);
}

bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (!volume.spec.claim_ref) return false;
  const api::ObjectReference& ref = *volume.spec.claim_ref;
  return ref.name == claim.metadata.name && ref.namespace_ == claim.metadata.namespace_ &&
         (ref.uid.empty() || ref.uid == claim.metadata.uid);
}

std::string NotFound(std::string_view resource, std::string_view name) {
  return fmt::format("{} {} not found", resource, api::GoQuote(name));
}

}  // namespace berth::plugins

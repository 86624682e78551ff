#include "plugins/dynamic_resources/pod_claims.h"

#include <algorithm>

#include "api/go/go_text.h"

namespace berth::plugins::dynamic_resources {
namespace {

// Null: there is intentionally no claim for this entry.
Result<const std::string*> ClaimName(const cluster::Pod& pod, const api::PodResourceClaim& entry,
                                     bool* from_template) {
  *from_template = false;
  if (entry.resource_claim_name) return &*entry.resource_claim_name;
  if (!entry.resource_claim_template_name) {
    return Fail("pod \"" + pod.Key() + "\", spec.resourceClaim " + api::GoQuote(entry.name) +
                ": none of the supported fields are set");
  }
  for (const api::PodResourceClaimStatus& status : pod.resource_claim_statuses) {
    if (status.name != entry.name) continue;
    *from_template = true;
    return status.resource_claim_name ? &*status.resource_claim_name : nullptr;
  }
  return Fail("pod \"" + pod.Key() + "\": ResourceClaim not created yet");
}

bool IsControlledBy(const api::ResourceClaim& claim, const cluster::Pod& pod) {
  for (const api::OwnerReference& owner : claim.metadata.owner_references) {
    if (owner.controller.value_or(false)) return owner.uid == pod.uid;
  }
  return false;
}

}  // namespace

Result<std::vector<const api::ResourceClaim*>> PodClaims(const cluster::ObjectStore& objects,
                                                         const cluster::Pod& pod) {
  std::vector<const api::ResourceClaim*> claims;
  for (const api::PodResourceClaim& entry : pod.shape->source.spec.resource_claims) {
    bool from_template = false;
    const Result<const std::string*> name = ClaimName(pod, entry, &from_template);
    if (!name) return Fail(name.error());
    if (*name == nullptr) continue;
    const api::ResourceClaim* claim = objects.resource_claims.Find(pod.namespace_(), **name);
    if (claim == nullptr) {
      return Fail("could not find ResourceClaim \"" + pod.namespace_() + "/" + **name + "\"");
    }
    if (claim->metadata.deletion_timestamp) {
      return Fail("resourceclaim " + api::GoQuote(claim->metadata.name) + " is being deleted");
    }
    if (from_template && !IsControlledBy(*claim, pod)) {
      return Fail("ResourceClaim " + pod.namespace_() + "/" + **name + " was not created for pod " +
                  pod.Key() + " (pod is not owner)");
    }
    claims.push_back(claim);
  }
  return claims;
}

bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid) {
  const auto& users = claim.status.reserved_for;
  return std::any_of(users.begin(), users.end(), [&](const auto& u) { return u.uid == pod_uid; });
}

}  // namespace berth::plugins::dynamic_resources

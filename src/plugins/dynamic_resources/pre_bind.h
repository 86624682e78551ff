// The PreBind task of DynamicResources: for each claim, writes the allocation that Reserve decided
// and the reservation for the pod.
//
// What its writes change, against the claim of the same resourceVersion:
//
// - The claim: metadata.finalizers gains an entry, before the claim gets its allocation.
// - Its status: status.allocation, unless it has one; status.reservedFor gains the pod.
// - A claim for extended resources is created first; after its status, the pod's
//   status.extendedResourceClaimStatus is written.
// - Undo: status.reservedFor loses the pod. It can also be sent as a patch that deletes the entry
//   by the pod's uid, with the claim's uid and without a resourceVersion: then it cannot conflict.
//   A claim that was created is deleted.
//
// After a conflict the claim is read from the cluster's store, as soon as that has a newer version.
//
// With binding conditions, the written claims are checked every second, as the store has them,
// until their devices are ready, one has failed or the timeout has passed.
//
// A written claim goes into the cluster's store unless the store already has it. An engine that
// needs an event for the queue puts the response into its own store before it calls Next.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/resource/resource_claim.h"
#include "cluster/cluster.h"
#include "framework/points/pre_bind.h"
#include "plugins/dynamic_resources/binding_conditions.h"

namespace berth::plugins::dynamic_resources {

// One claim of the pod.
struct ClaimToBind {
  api::ResourceClaim claim;                    // as the cycle saw it
  api::Box<api::AllocationResult> allocation;  // by Reserve; none: the claim has one already
  std::string in_flight_name = {};             // with an allocation
  // The API does not have it yet. Once it is written the pod's status says who uses it.
  bool create = false;
  std::vector<api::ContainerExtendedResourceRequest> mappings = {};
};

struct PodToBind {
  std::string uid;
  std::string name;
  // Not empty: claims get the time of their allocation, and the pod is not bound to this node
  // before all binding conditions of its devices are true.
  std::string node_to_wait_for = {};
  BindingRules rules = {};
};

std::unique_ptr<framework::PreBindTask> MakePreBindTask(cluster::Cluster& cluster,
                                                        std::vector<ClaimToBind> claims,
                                                        PodToBind pod);

// How the pod is listed among the users of a claim.
api::ResourceClaimConsumerReference PodReference(std::string_view pod_uid,
                                                 std::string_view pod_name);

// The claim of this key is no longer in flight, if it was for the pod: claims in flight list the
// pod they were reserved for as their user.
void ReleaseInFlight(cluster::Cluster& cluster, const api::ObjectMeta& claim,
                     std::string_view pod_uid);
// The same for all claims of the pod.
void ReleaseInFlight(cluster::Cluster& cluster, std::string_view pod_uid);

}  // namespace berth::plugins::dynamic_resources

// The claim for extended resources of a pod that are backed by devices (the feature gate
// DRAExtendedResource), and the containers that use it.
//
// One claim per pod, owned by it. Until PreBind it exists only here, under a name that no claim of
// the API can have.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/pod.h"
#include "config/behaviour.h"

namespace berth::plugins::dynamic_resources {

inline constexpr std::string_view kExtendedClaimName = "<extended-resources>";
inline constexpr std::string_view kExtendedClaimAnnotation =
    "resource.kubernetes.io/extended-resource-claim";

// The extended resources a pod requests, in order of their ids.
struct ExtendedResources {
  std::vector<cluster::ResourceId> of_devices;  // some device class stands for them
  std::vector<cluster::ResourceId> of_nodes;    // only nodes can have them
};

// Both lists are empty if devices stand for none of them.
ExtendedResources ExtendedResourcesOf(const config::DraFeatures& features,
                                      const cluster::Cluster& cluster, const cluster::Pod& pod);

// What an earlier attempt left; null: nothing.
const api::ResourceClaim* FindExtendedClaim(const cluster::ObjectStore& objects,
                                            const cluster::Pod& pod);

// The claim for these resources, with a request for each container and resource. From 1.35 on init
// containers that end use devices of containers that run later, and share one request for what they
// need beyond.
std::shared_ptr<const api::ResourceClaim> MakeExtendedClaim(
    const config::DraFeatures& features, const cluster::Cluster& cluster, const cluster::Pod& pod,
    const std::vector<cluster::ResourceId>& resources);

// Which container uses which request of the claim.
std::vector<api::ContainerExtendedResourceRequest> RequestMappings(
    const config::DraFeatures& features, const api::ResourceClaim& claim, const api::PodSpec& spec);

}  // namespace berth::plugins::dynamic_resources

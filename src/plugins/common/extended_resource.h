// Extended resources that are backed by devices (the feature gate DRAExtendedResource). A device
// class declares the name. What is said of 1.35 and later holds where
// DraFeatures::resources_by_class is set.
#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "config/behaviour.h"

namespace berth::plugins {

// Can devices back a resource of that name? Extended resources; from 1.35 on also the name that
// every class has, "deviceclass.resource.kubernetes.io/CLASS".
bool IsDeviceResource(const config::DraFeatures& features, std::string_view resource);

// The class whose devices a request for the resource gets; null: none. Of several that declare the
// name the first by name; from 1.35 on the newest one, then the first by name.
const api::DeviceClass* FindClassOfResource(const config::DraFeatures& features,
                                            const cluster::ObjectStore& objects,
                                            std::string_view resource);

// Does the node itself report an amount of the resource, possibly zero?
bool NodeHas(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::ResourceId id);

// Does the node provide the resource itself, so that devices do not back it there? It reports an
// amount; from 1.35 on, one above zero.
bool NodeProvides(const config::DraFeatures& features, const cluster::Cluster& cluster,
                  cluster::NodeIndex node, cluster::ResourceId id);

}  // namespace berth::plugins

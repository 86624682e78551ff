// Extended resources that are backed by devices (the feature gate DRAExtendedResource). A device
// class declares the name.
#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins {

// The class whose devices a request for the resource gets; null: none. Of several, the first by
// name.
const api::DeviceClass* FindClassOfResource(const cluster::ObjectStore& objects,
                                            std::string_view resource);

// Does the node itself report an amount of the resource, possibly zero? Then devices do not back it
// there.
bool NodeHas(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::ResourceId id);

}  // namespace berth::plugins

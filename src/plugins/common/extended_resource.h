// Extended resources that devices stand for (the feature gate DRAExtendedResource): a device class
// says by which name.
#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins {

// The class whose devices a request for the resource gets; null: none says so. Of several, the one
// that is first by name.
const api::DeviceClass* FindClassOfResource(const cluster::ObjectStore& objects,
                                            std::string_view resource);

// Does the node say itself how much it has of the resource, be it nothing? Then devices do not
// stand for it there.
bool NodeHas(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::ResourceId id);

}  // namespace berth::plugins

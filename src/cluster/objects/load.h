// Loading objects of any kind into a cluster.
#pragma once

#include "api/object.h"
#include "cluster/cluster.h"

namespace berth::cluster {

// Adds or replaces `object`. Pods that have finished are left out, as kube-scheduler does not watch
// them; kinds that scheduling does not read are ignored. Returns false when the object was left
// out.
bool Load(Cluster& cluster, api::Object&& object);

}  // namespace berth::cluster

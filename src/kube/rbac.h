// The role that a scheduler needs, as a manifest.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cluster/objects/kind_table.h"

namespace berth::kube {

// YAML of a ClusterRole with everything that a scheduler with this behaviour does, one rule per
// kind (cluster/objects/kind_table.h), and delegated authentication. `custom`: resources that its
// plugins read. `reads_metrics`: one of them has metrics.k8s.io as its source. `shares_work`: with
// --replicas-share-work.
std::string ClusterRole(const config::Behaviour& behaviour,
                        std::span<const cluster::CustomKind> custom, bool reads_metrics = false,
                        bool shares_work = false);

// YAML of a Role with what replicas that share work do in the namespace of the Lease.
std::string ReplicasRole(std::string_view namespace_);

}  // namespace berth::kube

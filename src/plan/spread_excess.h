// SpreadExcess: by how many pods the spread constraints of a cluster are violated.
//
// Pods whose constraints are the same and count the same nodes share one entry. For each domain the
// excess is max(0, pods - pods of the emptiest domain - maxSkew).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/eligible_nodes.h"

namespace berth::plan {

class SpreadExcess {
 public:
  // Counts the constraints of all pods that have a node. `soft`: those with ScheduleAnyway too.
  // Nodes do not change while it is in use.
  SpreadExcess(const cluster::Cluster& cluster, bool soft);

  int64_t Total() const { return total_; }

  // A pod of `shape` has come to the node (+1) or left it (-1).
  void Count(const cluster::PodShape& shape, cluster::NodeIndex node, int32_t delta);

  // Whether the pod is in an overfull domain of a constraint that counts it. REQUIRES: it has a
  // node.
  bool InOverfullDomain(const cluster::Pod& pod) const;

  // A sentence about each constraint that is violated.
  std::vector<std::string> Violations() const;

 private:
  struct Group {
    std::string namespace_;
    plugins::pod_topology_spread::Constraint constraint;
    std::shared_ptr<plugins::pod_topology_spread::EligibleNodes> eligible;
    const cluster::LabelColumn* column;
    boost::unordered_flat_map<uint32_t, int64_t> pods;  // by domain
    int64_t excess = 0;
  };

  void Learn(const cluster::PodShape& shape, bool soft);
  void AddGroup(const cluster::PodShape& shape, plugins::pod_topology_spread::Constraint constraint,
                const plugins::pod_topology_spread::Eligibility& what);
  const std::vector<uint32_t>& GroupsOf(const cluster::PodShape& shape) const;
  int64_t Allowed(const Group& group) const;  // pods a domain may have
  int64_t ExcessOf(const Group& group) const;

  const cluster::Cluster& cluster_;
  plugins::pod_topology_spread::EligibleTable eligible_;
  std::vector<Group> groups_;
  boost::unordered_flat_map<std::string, std::vector<uint32_t>> by_namespace_;
  // Which groups count pods of a shape.
  mutable boost::unordered_flat_map<const cluster::PodShape*, std::vector<uint32_t>> counted_by_;
  int64_t total_ = 0;
};

}  // namespace berth::plan

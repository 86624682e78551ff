// ExactLedger: which pods the published amounts of a node's cells take into account, which are on
// their way to its kubelet, and whether one more fits whatever the kubelet does (accuracy: Exact).
//
// The fingerprint of a NodeResourceTopology tells which pods it counts. Pods on the node that it
// does not count are in flight: the kubelet may admit them in any order. Pods that it counts and
// that have gone may free their cells at any time. A node whose fingerprint is of no set of pods
// that the cluster knows takes no pod that needs alignment. Owned by the plugin; Update is called
// before each cycle, VerdictOf by Filter, for different nodes at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/pods/shape_table.h"
#include "plugins/node_resource_topology/kubelet_node.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {

class ExactLedger {
 public:
  enum class Verdict : uint8_t { kFits, kUnaligned, kUnknown };

  // `topologies` are parallel to the cluster's rows, null where a node has none; `changed` when
  // some may differ from the last call.
  void Update(const cluster::Cluster& cluster, const std::vector<const NodeTopology*>& topologies,
              bool changed);

  Verdict VerdictOf(cluster::NodeIndex n, const cluster::PodShape& shape,
                    const KubeletPod& pod) const;

  const KubeletPod& Of(const cluster::PodShape& shape) const;

 private:
  struct Known {
    std::string uid;
    std::string namespace_;
    std::string name;
    bool counted = false;  // the fingerprint is of pods such as this one
    bool started = false;
    KubeletPod needs;
  };
  struct Row {
    std::string name;  // of the node
    std::optional<NodeTopology> topology;
    std::optional<KubeletNode> node;
    CellUse published;
    bool identified = false;
    std::vector<Known> counted;  // by the fingerprint
    std::vector<KubeletPod> in_flight;
    bool some_gone = false;                        // of those counted, with something of their own
    mutable std::map<uint64_t, Verdict> verdicts;  // by serial of the shape
  };

  void Read(const cluster::Cluster& cluster, cluster::NodeIndex n, const NodeTopology* topology);
  std::vector<Known> PodsOn(const cluster::Cluster& cluster, cluster::NodeIndex n,
                            bool exclusive) const;
  // Finds the pods that the fingerprint is of, among those on the node and those counted before.
  static bool Identify(const std::vector<Known>& present, Row* row);

  std::vector<Row> rows_;
  std::vector<const NodeTopology*> topologies_;
  uint64_t position_ = 0;  // in the log of changed rows
  mutable cluster::PerShape<KubeletPod> pods_;
  mutable cluster::PerShape<PodNeeds> needs_;
};

}  // namespace berth::plugins::node_resource_topology

// AssumedCache: topologies as they were when the pods of their nodes were last known, and what pods
// placed since then may have taken (cacheResyncPeriodSeconds).
//
// A pod that is placed takes its requests from every cell of its node. A topology is replaced by
// the current object when a pod did not fit or a foreign pod appeared on the node, a resync is due,
// and the object's fingerprint is that of the pods on the node. Nodes with foreign pods are closed
// until then. Owned by the plugin; Update is called before each cycle, the rest by Filter, Score
// and Reserve.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/pods/shape_table.h"
#include "config/args/node_resource_topology_args.h"
#include "plugins/node_resource_topology/node_topology.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {

class AssumedCache {
 public:
  using NeedsOf = cluster::PerShape<PodNeeds>;

  // REQUIRES: arguments with defaults.
  explicit AssumedCache(const config::NodeResourceTopologyMatchArgs& args);

  // `scheduler`: pods of other schedulers are foreign. Pods are counted with `needs`.
  void Update(const cluster::Cluster& cluster, std::string_view scheduler, const api::Time& now,
              NeedsOf& needs);

  void Reserve(const std::string& node, const std::string& pod, const Needs& needs);
  void Unreserve(const std::string& node, const std::string& pod);

  // With what was placed taken off. Null: the node has none.
  const NodeTopology* TopologyOf(cluster::NodeIndex n) const {
    return n < rows_.size() && rows_[n] != nullptr ? &rows_[n]->reduced : nullptr;
  }
  // Foreign pods appeared on the node.
  bool IsClosed(cluster::NodeIndex n) const {
    return n < rows_.size() && rows_[n] != nullptr && rows_[n]->foreign;
  }
  // A pod did not fit on the node. May be called for different nodes at a time.
  void NoteRefused(cluster::NodeIndex n) const { rows_[n]->refused = true; }

 private:
  struct Entry {
    NodeTopology cached;
    NodeTopology reduced;                               // cached without the assumed pods
    std::map<std::string, Needs, std::less<>> assumed;  // by "namespace/name"
    bool refused = false;
    bool foreign = false;
    bool reconfigured = false;           // the kubelet's policy or scope is another now
    std::set<std::string> foreign_pods;  // uids
  };

  void ReadObjects(const cluster::Cluster& cluster);
  void ReadObject(const std::string& node, const api::UnknownObject* object);
  void FindForeign(const cluster::Cluster& cluster, cluster::NodeIndex row,
                   std::string_view scheduler, NeedsOf& needs);
  void Resync(const cluster::Cluster& cluster, NeedsOf& needs);
  // The current object of the node, if the entry may be replaced by it.
  std::optional<NodeTopology> Fresh(const cluster::Cluster& cluster, const std::string& node,
                                    const Entry& entry, NeedsOf& needs) const;
  static void Reduce(Entry& entry);

  enum class Foreign : uint8_t { kAll, kNone, kExclusive };
  enum class Method : uint8_t { kAutodetect, kAll, kExclusive };

  const int64_t period_seconds_;
  Foreign detects_ = Foreign::kAll;
  Method method_ = Method::kAutodetect;
  bool follows_attributes_ = true;

  std::map<std::string, Entry, std::less<>> entries_;  // by node
  std::vector<Entry*> rows_;
  api::Time next_resync_;
  uint64_t objects_ = UINT64_MAX;  // generation of the store
  uint64_t nodes_ = UINT64_MAX;    // generation of the nodes
  uint64_t position_ = 0;          // in the log of changed rows
  bool read_rows_ = false;
};

}  // namespace berth::plugins::node_resource_topology

// NodeResourceTopologyMatch (of scheduler-plugins): keeps pods off nodes whose kubelet would refuse
// to align them with a NUMA cell, and scores nodes by their cells.
//
// With accuracy Exact, ExactLedger replays the kubelet's admission. Otherwise, as the original
// does: NodeResourceTopology objects are read as they are known when the pod is placed; pods placed
// since the object was written are not taken from it. With discardReservedNodes a node is closed
// while a pod is on its way to it. With cacheResyncPeriodSeconds, AssumedCache takes placed pods
// into account.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/objects/custom_kinds.h"
#include "cluster/pods/shape_table.h"
#include "config/args/node_resource_topology_args.h"
#include "framework/points/device_claims.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/node_resource_topology/alignment_memo.h"
#include "plugins/node_resource_topology/assumed_cache.h"
#include "plugins/node_resource_topology/exact_ledger.h"
#include "plugins/node_resource_topology/numa_score.h"

namespace berth::plugins::node_resource_topology {

inline constexpr std::string_view kName = config::NodeResourceTopologyMatchArgs::kPlugin;

class NodeResourceTopologyMatch final : public framework::FilterPlugin,
                                        public framework::ScorePlugin,
                                        public framework::ReservePlugin,
                                        public framework::PostBindPlugin,
                                        public framework::TimeAwarePlugin,
                                        public framework::EnqueueExtensions {
 public:
  // REQUIRES: valid arguments, with defaults.
  explicit NodeResourceTopologyMatch(const config::NodeResourceTopologyMatchArgs& args);

  std::string_view Name() const override { return kName; }
  void SetTime(const api::Time& now) override { now_ = now; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  // Brings what is known of the topologies up to date, so that Filter and Score only read.
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

  framework::Status Reserve(const framework::CycleContext&, framework::PluginState*,
                            cluster::NodeIndex node) override;
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 cluster::NodeIndex node) override;
  void PostBind(const cluster::Cluster&, const cluster::Pod&, cluster::NodeIndex node) override;

 private:
  void FilterExactly(const framework::CycleContext&, framework::FilterBatch&) const;
  const NodeTopology* TopologyOf(cluster::NodeIndex n) const {
    if (cache_) return cache_->TopologyOf(n);
    return n < by_row_.size() ? by_row_[n] : nullptr;
  }
  // True: some may differ from the last call.
  bool ReadTopologies(const cluster::Cluster& cluster) const;
  bool ReadChanges(const cluster::CustomStores::Objects& store) const;
  // What is known of the node's cells does not count: pods are on their way, or foreign ones came.
  bool IsStale(const cluster::Cluster& cluster, cluster::NodeIndex n) const;
  void Release(const std::string& node, const std::string& uid);

  Strategy strategy_ = Strategy::kLeastAllocated;
  Weights weights_;
  const bool discards_reserved_;
  std::map<std::string, std::set<std::string>, std::less<>> reserved_;  // node to uids of pods
  mutable std::optional<AssumedCache> cache_;
  mutable std::optional<ExactLedger> exact_;
  api::Time now_;

  mutable std::map<std::string, std::optional<NodeTopology>, std::less<>> topologies_;
  mutable std::vector<const NodeTopology*> by_row_;
  mutable uint64_t objects_ = UINT64_MAX;     // generation of the store
  mutable uint64_t nodes_ = UINT64_MAX;       // generation of the nodes
  mutable uint64_t rows_read_ = 0;            // position in the changes of rows
  mutable std::vector<std::string> changed_;  // names of objects
  mutable AlignmentMemo memo_;
  mutable cluster::PerShape<PodNeeds> needs_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_resource_topology

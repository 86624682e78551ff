// NodePools: which pools of devices each node can reach.
//
// A pool as seen from a node consists of the slices that name the node, all nodes, or a selector
// the node matches; only those of the newest generation count. Nodes that match the same shared
// slices share one list of pools.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "plugins/dynamic_resources/inventory.h"

namespace berth::plugins::dynamic_resources {

struct Pool {
  std::string driver;
  std::string name;
  bool incomplete = false;     // not all slices of the newest generation are there
  std::string invalid_reason;  // not empty: must not be used
  bool binding_conditions = false;
  std::vector<SliceId> slices;
  // All slices with counters and devices of the pool, on whatever node.
  const std::vector<SliceId>* whole = nullptr;
  // Of the slices whose devices have places of their own: those that the node reaches, word by
  // word. Empty for the other slices, and for pools without such slices.
  std::vector<std::vector<uint64_t>> reach;

  // What can be reached of a word of the slice at that position.
  uint64_t Reachable(size_t position, uint32_t word) const {
    return reach.empty() || reach[position].empty() ? ~uint64_t{0} : reach[position][word];
  }

  std::string Id() const { return driver + "/" + name; }
};

// In the order devices are tried.
using PoolList = std::vector<const Pool*>;

class NodePools {
 public:
  // Where devices cannot be partitioned, slices whose devices have places of their own are left
  // alone.
  explicit NodePools(const config::DraFeatures& features = {}) : features_(features) {}

  // True when something changed.
  bool Sync(const cluster::Cluster& cluster, const Inventory& inventory);
  // Changes with every true Sync.
  uint64_t Version() const { return version_; }

  // Not empty: no node can be evaluated, because some slice is invalid in a way that concerns them
  // all.
  const std::string& Error() const { return error_; }

  // Appends the pools of a node: its own first, then the shared ones.
  void Append(cluster::NodeIndex node, PoolList* pools) const;

  // The one node that reaches the slice; kNoNode when several may, or none.
  cluster::NodeIndex OnlyNode(SliceId slice) const {
    return slice < node_of_slice_.size() ? node_of_slice_[slice] : cluster::kNoNode;
  }

 private:
  // A slice as a node reaches it.
  struct Reached {
    SliceId slice = 0;
    std::vector<uint64_t> words = {};  // see Pool::reach

    auto operator<=>(const Reached&) const = default;
  };
  using ReachedSlices = std::vector<Reached>;

  void Rebuild(const cluster::Cluster& cluster, const Inventory& inventory);
  std::vector<SliceId> LiveSlices(const Inventory& inventory) const;
  // Adds the slice to the nodes it reaches. False: see error_.
  bool Reach(const cluster::Cluster& cluster, const Inventory& inventory, SliceId id,
             std::vector<ReachedSlices>* own, std::vector<ReachedSlices>* shared);
  bool ReachDevices(const cluster::Cluster& cluster, const SliceRecord& record,
                    std::vector<std::vector<uint64_t>>* reach);
  std::vector<Pool> MakePools(const Inventory& inventory, const ReachedSlices& slices) const;
  // Whether the pool is complete, looking at the slices of all nodes. False: it is obsolete.
  bool CheckWholePool(const Inventory& inventory, Pool& pool) const;
  void CountSlices(const Inventory& inventory);

  // The slices of a pool on all nodes.
  struct PoolSlices {
    int64_t generation = 0;       // the newest
    std::vector<SliceId> slices;  // of that generation
  };

  const config::DraFeatures features_;
  std::map<std::pair<std::string, std::string>, PoolSlices> whole_pools_;  // by driver and name
  uint64_t version_ = 0;
  uint64_t slice_serial_ = ~uint64_t{0};
  uint64_t node_generation_ = ~uint64_t{0};
  std::string error_;
  std::vector<std::vector<Pool>> local_;  // by node
  std::vector<uint32_t> group_of_node_;
  std::vector<std::vector<Pool>> groups_;  // of the shared slices; the first one is empty
  std::vector<cluster::NodeIndex> node_of_slice_;
};

}  // namespace berth::plugins::dynamic_resources

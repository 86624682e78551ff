// DeviceTotals: how many devices back an extended resource on every node, and how many are taken.
//
// From 1.35 on kube-scheduler scores an extended resource that devices back (the feature gate
// DRAExtendedResource) by these numbers on nodes that do not provide the resource themselves. All
// slices count, whatever the state of their pool. Which devices a class selects is kept until
// slices or classes change.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "config/behaviour.h"
#include "plugins/node_resources/allocation.h"

namespace berth::plugins::node_resources {

class DeviceTotals {
 public:
  // By row.
  struct Columns {
    std::vector<int64_t> allocatable;
    std::vector<int64_t> used;
  };

  explicit DeviceTotals(const config::DraFeatures& features) : features_(features) {}

  // Makes the scored resources that devices back refer to `columns`, which hold the nodes' own
  // amounts and, where a node has none, its devices.
  void Apply(const cluster::Cluster& cluster, std::vector<ScoredResource>* scored,
             std::vector<Columns>* columns);

 private:
  enum class Match : uint8_t { kNo, kYes, kError };
  // What a class selects: by slice in the order of the store, then by device.
  struct Selection {
    uint64_t slices = 0;  // generations of the stores
    uint64_t classes = 0;
    std::vector<std::vector<Match>> matches;
  };
  struct Count {
    int64_t devices = 0;
    int64_t taken = 0;
    bool failed = false;
  };

  const Selection& Select(const cluster::Cluster& cluster, cluster::ResourceId id,
                          const api::DeviceClass& device_class);
  void CountDevices(const cluster::Cluster& cluster, const Selection& selection,
                    std::vector<Count>* counts) const;

  const config::DraFeatures features_;
  boost::unordered_flat_map<cluster::ResourceId, Selection> selections_;
};

}  // namespace berth::plugins::node_resources

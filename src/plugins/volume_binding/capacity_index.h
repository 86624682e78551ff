// CapacityIndex: how large a volume can still be provisioned for a storage class from a node.
//
// Kept up to date through the store's change log. Threads: Sync on the cycle's own thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "plugins/common/label_terms.h"

namespace berth::plugins::volume_binding {

class CapacityIndex {
 public:
  struct Class;

  void Sync(const cluster::Cluster& cluster);

  // Null: no capacity is published for the class.
  const Class* Find(std::string_view storage_class) const;
  struct Segment {
    LabelTerms terms;
    int64_t limit = 0;  // of a single volume, in bytes
    int64_t capacity = 0;
  };
  // A capacity that can hold a volume of `size` bytes and that the node can reach; null: there is
  // none.
  static const Segment* FindRoom(const cluster::Cluster& cluster, const Class& storage_class,
                                 int64_t size, cluster::NodeIndex n);

  struct Class {
    std::vector<Segment> segments;
    std::vector<uint32_t> free;
    LabelTermIndex index;  // of positions in segments
  };

 private:
  struct Place {
    std::string storage_class;
    uint32_t segment;
  };

  void Refresh(const cluster::Cluster& cluster, const std::string& key);

  boost::unordered_flat_map<std::string, Class> classes_;
  boost::unordered_flat_map<std::string, Place> places_;  // by key of the object
  uint64_t generation_ = 0;
};

}  // namespace berth::plugins::volume_binding

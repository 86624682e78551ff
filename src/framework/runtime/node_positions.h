// NodePositions: where every node is in kube-scheduler's order of nodes.
//
// A copy of Cluster::NodeOrder with its inverse, made again only when the order changed.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cluster/cluster.h"

namespace berth::framework {

class NodePositions {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  void Update(const cluster::Cluster& cluster) {
    if (cluster_ != &cluster || generation_ != cluster.NodeGeneration()) Rebuild(cluster);
  }

  // Changes with the order, and is never 0 after an Update.
  uint64_t Version() const { return version_; }
  // Rows by position.
  std::span<const cluster::NodeIndex> Order() const { return order_; }
  // kNone: no node has the row.
  uint32_t Of(cluster::NodeIndex row) const { return row < of_.size() ? of_[row] : kNone; }

 private:
  void Rebuild(const cluster::Cluster& cluster);

  const cluster::Cluster* cluster_ = nullptr;
  uint64_t generation_ = 0;
  uint64_t version_ = 0;
  std::vector<cluster::NodeIndex> order_;
  std::vector<uint32_t> of_;
};

}  // namespace berth::framework

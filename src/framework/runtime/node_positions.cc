#include "framework/runtime/node_positions.h"

#include <algorithm>

namespace berth::framework {

void NodePositions::Rebuild(const cluster::Cluster& cluster) {
  const auto order = cluster.NodeOrder();
  const bool same = cluster_ == &cluster && std::ranges::equal(order, order_);
  cluster_ = &cluster;
  generation_ = cluster.NodeGeneration();
  if (same) return;  // a node changed, and none came or went
  order_.assign(order.begin(), order.end());
  of_.assign(cluster.Rows(), kNone);
  for (uint32_t i = 0; i < order_.size(); ++i) of_[order_[i]] = i;
  ++version_;
}

}  // namespace berth::framework

// EligibleNodes: the nodes a spread constraint counts, and the domains they form.
//
// Which nodes count depends on the constraint's policies, on the labels the pod's constraints name
// and, depending on the policies, on the pod's node affinity and tolerations. Pods that agree on
// all of these share one object. It is rebuilt when nodes have changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "plugins/common/node_matcher.h"

namespace berth::plugins::pod_topology_spread {

// What decides whether a node counts.
struct Eligibility {
  cluster::StringId own_key = cluster::kNoString;  // the key whose domains are needed
  std::vector<cluster::StringId> required_keys;    // labels a node must have
  bool honors_node_affinity = false;
  bool honors_taints = false;
};

// The nodes that count, whatever their domains are. Constraints that differ only in their key share
// one object, so that a pod's node affinity is compiled once and not for every constraint.
class CountedNodes {
 public:
  // `what.own_key` does not matter.
  CountedNodes(const cluster::Cluster& cluster, const cluster::PodShape& shape,
               const Eligibility& what);

  // Looks at the nodes again if they have changed. REQUIRES: called before Mask in every cycle.
  void Refresh(const cluster::Cluster& cluster);
  const std::shared_ptr<const cluster::NodeMask>& Mask() const { return shared_mask_; }

 private:
  bool Counts(const cluster::Cluster& cluster, cluster::NodeIndex n);

  std::vector<const cluster::LabelColumn*> required_columns_;
  std::optional<NodeMatcher> matcher_;
  bool honors_taints_;
  std::vector<api::Toleration> tolerations_;
  std::vector<uint8_t> tolerated_;  // by taint set: 0 unknown, 1 no, 2 yes

  std::shared_ptr<cluster::NodeMask> mask_;
  std::shared_ptr<const cluster::NodeMask> shared_mask_;  // the same
};

class EligibleNodes {
 public:
  EligibleNodes(const cluster::Cluster& cluster, cluster::StringId own_key,
                std::shared_ptr<CountedNodes> counted);

  // Looks at the nodes again if they have changed. REQUIRES: called before the others in every
  // cycle.
  void Refresh(const cluster::Cluster& cluster);

  const std::shared_ptr<const cluster::NodeMask>& Mask() const { return counted_->Mask(); }
  bool Contains(cluster::NodeIndex n) const { return Mask()->nodes.Contains(n); }
  // Codes of the own key on eligible nodes, each once. See DomainOf.
  const std::vector<uint32_t>& Domains() const { return domains_; }
  // The domain of a node by the code of its own key: a node without the label counts as one whose
  // label is empty.
  uint32_t DomainOf(uint32_t code) const {
    return code == cluster::LabelColumn::kAbsent ? empty_value_code_ : code;
  }
  // Code of the empty value, 0 when no node has it.
  uint32_t EmptyValueCode() const { return empty_value_code_; }

 private:
  const cluster::LabelColumn* own_column_;
  std::shared_ptr<CountedNodes> counted_;
  cluster::StringId empty_;
  uint64_t generation_ = 0;  // of TopologyCounters, when the domains were collected
  std::vector<uint32_t> domains_;
  uint32_t empty_value_code_ = 0;
  std::vector<uint8_t> seen_;
};

// All EligibleNodes in use.
class EligibleTable {
 public:
  std::shared_ptr<EligibleNodes> Get(const cluster::Cluster& cluster,
                                     const cluster::PodShape& shape, const Eligibility& what) {
    return Get(cluster, what.own_key, Counted(cluster, shape, what));
  }
  // The same in two steps, for constraints that have the first one in common.
  std::shared_ptr<CountedNodes> Counted(const cluster::Cluster& cluster,
                                        const cluster::PodShape& shape, const Eligibility& what);
  std::shared_ptr<EligibleNodes> Get(const cluster::Cluster& cluster, cluster::StringId own_key,
                                     const std::shared_ptr<CountedNodes>& counted);

 private:
  using OfKey = std::pair<cluster::StringId, const CountedNodes*>;

  boost::unordered_flat_map<std::string, std::weak_ptr<CountedNodes>> counted_;
  boost::unordered_flat_map<OfKey, std::weak_ptr<EligibleNodes>> of_key_;
  size_t sweep_at_ = 64;
};

}  // namespace berth::plugins::pod_topology_spread

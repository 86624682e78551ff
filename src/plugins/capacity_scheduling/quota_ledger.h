// QuotaLedger: the quotas of all namespaces, and what the pods on nodes use of them.
//
// Brought up to date from the cluster's change log before each cycle: a pod counts from when it is
// assumed until it leaves its node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/pods/shape_table.h"
#include "plugins/capacity_scheduling/amounts.h"

namespace berth::plugins::capacity_scheduling {

struct Quota {
  std::string namespace_;
  Amounts min;
  Amounts max;
};

class QuotaLedger {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void Refresh(const cluster::Cluster& cluster);

  const std::vector<Quota>& quotas() const { return quotas_; }
  // Parallel to quotas().
  const std::vector<Amounts>& used() const { return used_; }
  // What is guaranteed to all namespaces together.
  const Amounts& total_min() const { return total_min_; }

  // The quota of the pods of this shape; kNone: there is none.
  uint32_t QuotaOf(const cluster::PodShape& shape) const { return Of(shape).quota; }
  // What a pod of this shape takes.
  const Amounts& RequestOf(const cluster::PodShape& shape) const { return Of(shape).request; }

 private:
  struct ShapeUse {
    uint64_t generation = 0;  // of the quotas
    uint32_t quota = kNone;
    Amounts request;
  };
  using RowUse = std::vector<std::pair<uint32_t, Amounts>>;

  const ShapeUse& Of(const cluster::PodShape& shape) const;
  void ReadQuotas(const cluster::Cluster& cluster);
  void CountRow(const cluster::Cluster& cluster, cluster::NodeIndex row);

  const cluster::Cluster* cluster_ = nullptr;
  std::vector<Quota> quotas_;
  std::map<std::string, uint32_t, std::less<>> by_namespace_;
  std::vector<Amounts> used_;
  Amounts total_min_;
  std::vector<RowUse> rows_;
  uint64_t store_generation_ = UINT64_MAX;
  uint64_t generation_ = 0;
  uint64_t position_ = 0;  // in the cluster's log
  mutable cluster::PerShape<ShapeUse> shapes_;
};

}  // namespace berth::plugins::capacity_scheduling

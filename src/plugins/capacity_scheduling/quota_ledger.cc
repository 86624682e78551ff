#include "plugins/capacity_scheduling/quota_ledger.h"

#include <algorithm>
#include <cstdint>

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"
#include "plugins/capacity_scheduling/elastic_quota.h"

namespace berth::plugins::capacity_scheduling {

using cluster::Cluster;
using cluster::NodeIndex;

const QuotaLedger::ShapeUse& QuotaLedger::Of(const cluster::PodShape& shape) const {
  const auto make = [this](const cluster::PodShape& of) {
    ShapeUse use{generation_, kNone,
                 capacity_scheduling::RequestOf(of.source, cluster_->Resources())};
    const auto it = by_namespace_.find(of.namespace_);
    if (it != by_namespace_.end()) use.quota = it->second;
    return use;
  };
  ShapeUse& use = shapes_.Get(shape, make);
  if (use.generation != generation_) use = make(shape);
  return use;
}

// Of several quotas of a namespace the one that came first counts.
void QuotaLedger::ReadQuotas(const Cluster& cluster) {
  quotas_.clear();
  by_namespace_.clear();
  total_min_ = Amounts();
  const cluster::CustomKind& kind = ElasticQuotaKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  if (store != nullptr) {
    store->ForEach([&](const api::UnknownObject& object) {
      const auto parsed = api::FromJson<ElasticQuota>(object.json);
      if (!parsed || by_namespace_.contains(object.metadata.namespace_)) return;
      Quota quota{object.metadata.namespace_, {}, {}};
      if (parsed->spec.min) quota.min = AmountsOf(*parsed->spec.min, cluster.Resources());
      if (parsed->spec.max) {
        quota.max = AmountsOf(*parsed->spec.max, cluster.Resources());
      } else {
        quota.max.cpu = quota.max.memory = quota.max.ephemeral_storage = INT64_MAX;
      }
      Add(total_min_, quota.min);
      by_namespace_.emplace(quota.namespace_, static_cast<uint32_t>(quotas_.size()));
      quotas_.push_back(std::move(quota));
    });
  }
  used_.assign(quotas_.size(), Amounts());
  rows_.clear();
  ++generation_;
}

void QuotaLedger::CountRow(const Cluster& cluster, NodeIndex row) {
  if (row >= rows_.size()) rows_.resize(row + 1);
  RowUse& uses = rows_[row];
  for (const auto& [quota, amounts] : uses) Subtract(used_[quota], amounts);
  uses.clear();
  if (row >= cluster.Rows()) return;
  for (const cluster::PodId id : cluster.Record(row).pods) {
    const ShapeUse& use = Of(*cluster.GetPod(id).shape);
    if (use.quota == kNone) continue;
    auto it = std::find_if(uses.begin(), uses.end(),
                           [&](const auto& known) { return known.first == use.quota; });
    if (it == uses.end()) it = uses.insert(uses.end(), {use.quota, Amounts()});
    Add(it->second, use.request);
  }
  for (const auto& [quota, amounts] : uses) Add(used_[quota], amounts);
}

void QuotaLedger::Refresh(const Cluster& cluster) {
  const cluster::CustomKind& kind = ElasticQuotaKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  const uint64_t stored = store == nullptr ? 0 : store->Generation();
  bool follows = cluster_ == &cluster && stored == store_generation_;
  cluster_ = &cluster;
  store_generation_ = stored;
  if (!follows) ReadQuotas(cluster);
  if (quotas_.empty()) return;
  follows =
      follows && !rows_.empty() &&
      cluster.Changes().ForEachSince(position_, [&](NodeIndex row) { CountRow(cluster, row); });
  if (!follows) {
    for (NodeIndex row = 0; row < std::max(cluster.Rows(), rows_.size()); ++row) {
      CountRow(cluster, row);
    }
  }
  position_ = cluster.Changes().Read();
}

}  // namespace berth::plugins::capacity_scheduling

#include "plugins/inter_pod_affinity/many_terms.h"

#include <algorithm>

#include "base/wrap.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins::inter_pod_affinity {
namespace {

// Shapes come and go; what is known about them is forgotten together.
constexpr size_t kMaxShapes = 16'384;

}  // namespace

bool NodeLabelKeys::Contains(const cluster::Cluster& cluster, cluster::StringId key) {
  if (generation_ != cluster.Topology().Generation()) {
    generation_ = cluster.Topology().Generation();
    keys_.clear();
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      for (const auto& [label, value] : cluster.Record(n).labels) keys_.insert(label);
    });
  }
  return keys_.contains(key);
}

// A namespace selector speaks about namespaces that exist.
bool ManyTerms::Term::Matches(const cluster::Cluster& cluster,
                              const cluster::PodShape& shape) const {
  if (!term.selector.Matches(shape.source.metadata.labels)) return false;
  if (in_all_namespaces || term.NamesNamespace(shape.namespace_)) return true;
  if (term.namespace_selector.MatchesNothing()) return false;
  const api::Namespace* object = cluster.Objects().namespaces.Find(shape.namespace_);
  return object != nullptr && term.namespace_selector.Matches(object->metadata.labels);
}

void ManyTerms::Add(const cluster::AffinityTerm& term, bool in_all_namespaces,
                    const cluster::LabelColumn& column, int64_t weight) {
  const auto [it, is_new] =
      column_index_.try_emplace(&column, static_cast<uint32_t>(columns_.size()));
  if (is_new) columns_.push_back(&column);
  terms_.push_back({term, in_all_namespaces, it->second, weight});
}

bool ManyTerms::MatchesAll(const cluster::Cluster& cluster, const cluster::PodShape& shape) const {
  return !terms_.empty() && std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return term.Matches(cluster, shape);
  });
}

const std::vector<ManyTerms::Share>& ManyTerms::Of(const cluster::Cluster& cluster,
                                                   const cluster::PodShape& shape) {
  const auto known = of_shape_.find(shape.serial);
  if (known != of_shape_.end()) return known->second;
  if (of_shape_.size() >= kMaxShapes) of_shape_.clear();
  std::vector<Share>& shares = of_shape_[shape.serial];
  if (joint_) {
    if (!MatchesAll(cluster, shape)) return shares;
    for (uint32_t i = 0; i < columns_.size(); ++i) shares.push_back({i, 1, 1});
    return shares;
  }
  std::vector<Share> all(columns_.size());
  for (const Term& term : terms_) {
    if (!term.Matches(cluster, shape)) continue;
    Share& share = all[term.column];
    ++share.terms;
    share.weight = WrapAdd(share.weight, term.weight);
  }
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].terms > 0) shares.push_back({i, all[i].terms, all[i].weight});
  }
  return shares;
}

}  // namespace berth::plugins::inter_pod_affinity

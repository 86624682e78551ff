#include "plugins/pod_topology_spread/eligible_nodes.h"

#include <algorithm>

#include "api/codec/json.h"
#include "api/rules/toleration.h"
#include "cluster/pods/affinity_term.h"

namespace berth::plugins::pod_topology_spread {
namespace {

using cluster::AppendTextKey;
using cluster::LabelColumn;
using cluster::NodeIndex;

const api::NodeSelector* RequiredNodes(const cluster::PodShape& shape) {
  const auto& affinity = shape.source.spec.affinity;
  if (!affinity || !affinity->node_affinity) return nullptr;
  const auto& required =
      affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &*required : nullptr;
}

bool AsksForNodes(const cluster::PodShape& shape) {
  return !shape.source.spec.node_selector.empty() || RequiredNodes(shape) != nullptr;
}

// Equal for pods and constraints that count the same nodes for the same reasons.
std::string KeyOf(const cluster::PodShape& shape, const Eligibility& what) {
  std::string key;
  for (const cluster::StringId required : what.required_keys) {
    key += ' ';
    key += std::to_string(required);
  }
  if (what.honors_node_affinity && AsksForNodes(shape)) {
    key += " A";
    for (const auto& [label, value] : shape.source.spec.node_selector) {
      AppendTextKey(label, &key);
      AppendTextKey(value, &key);
    }
    if (const auto* required = RequiredNodes(shape)) {
      key += '+';
      AppendTextKey(api::ToJson(*required), &key);
    }
  }
  if (what.honors_taints) {
    key += " T";
    for (const api::Toleration& t : shape.source.spec.tolerations) {
      for (const std::string* part : {&t.key, &t.operator_, &t.value, &t.effect}) {
        AppendTextKey(*part, &key);
      }
    }
  }
  return key;
}

}  // namespace

CountedNodes::CountedNodes(const cluster::Cluster& cluster, const cluster::PodShape& shape,
                           const Eligibility& what)
    : honors_taints_(what.honors_taints),
      mask_(std::make_shared<cluster::NodeMask>()),
      shared_mask_(mask_) {
  for (const cluster::StringId key : what.required_keys) {
    required_columns_.push_back(&cluster.Labels(key));
  }
  if (what.honors_node_affinity && AsksForNodes(shape)) {
    matcher_.emplace(
        cluster, api::RequiredNodeAffinity(shape.source.spec.node_selector, RequiredNodes(shape)));
  }
  if (honors_taints_) tolerations_ = shape.source.spec.tolerations;
}

bool CountedNodes::Counts(const cluster::Cluster& cluster, NodeIndex n) {
  for (const LabelColumn* column : required_columns_) {
    if (column->codes[n] == LabelColumn::kAbsent) return false;
  }
  if (matcher_ && !matcher_->Matches(cluster, n)) return false;
  if (!honors_taints_) return true;
  const cluster::TaintSetId taints = cluster.TaintSetOf()[n];
  if (taints >= tolerated_.size()) tolerated_.resize(cluster.Taints().Size());
  if (tolerated_[taints] == 0) {
    const auto* untolerated =
        api::FirstUntolerated(cluster.Taints().Get(taints), tolerations_, api::ForbidsScheduling);
    tolerated_[taints] = untolerated == nullptr ? 2 : 1;
  }
  return tolerated_[taints] == 2;
}

void CountedNodes::Refresh(const cluster::Cluster& cluster) {
  const uint64_t generation = cluster.Topology().Generation();
  if (mask_->nodes.Capacity() < cluster.Rows()) mask_->nodes.Resize(cluster.Rows());
  if (mask_->generation == generation) return;
  mask_->generation = generation;
  mask_->nodes.Clear();
  if (matcher_) matcher_->Prepare(cluster);
  cluster.Nodes().ForEach([&](NodeIndex n) {
    if (Counts(cluster, n)) mask_->nodes.Insert(n);
  });
}

EligibleNodes::EligibleNodes(const cluster::Cluster& cluster, cluster::StringId own_key,
                             std::shared_ptr<CountedNodes> counted)
    : own_column_(&cluster.Labels(own_key)),
      counted_(std::move(counted)),
      empty_(cluster.Strings().Intern("")) {}

void EligibleNodes::Refresh(const cluster::Cluster& cluster) {
  counted_->Refresh(cluster);
  const uint64_t generation = cluster.Topology().Generation();
  if (generation_ == generation) return;
  generation_ = generation;
  empty_value_code_ = own_column_->CodeOf(empty_);
  domains_.clear();
  seen_.assign(own_column_->values.size(), 0);
  Mask()->nodes.ForEach([&](NodeIndex n) {
    const uint32_t domain = DomainOf(own_column_->codes[n]);
    if (seen_[domain] != 0) return;
    seen_[domain] = 1;
    domains_.push_back(domain);
  });
}

std::shared_ptr<CountedNodes> EligibleTable::Counted(const cluster::Cluster& cluster,
                                                     const cluster::PodShape& shape,
                                                     const Eligibility& what) {
  const std::string key = KeyOf(shape, what);
  const auto it = counted_.find(key);
  if (it != counted_.end()) {
    if (auto known = it->second.lock()) return known;
  }
  if (counted_.size() + of_key_.size() >= sweep_at_) {
    const auto is_gone = [](const auto& entry) { return entry.second.expired(); };
    boost::unordered::erase_if(counted_, is_gone);
    boost::unordered::erase_if(of_key_, is_gone);
    sweep_at_ = std::max<size_t>(64, 2 * (counted_.size() + of_key_.size()));
  }
  auto made = std::make_shared<CountedNodes>(cluster, shape, what);
  counted_.insert_or_assign(key, made);
  return made;
}

std::shared_ptr<EligibleNodes> EligibleTable::Get(const cluster::Cluster& cluster,
                                                  cluster::StringId own_key,
                                                  const std::shared_ptr<CountedNodes>& counted) {
  std::weak_ptr<EligibleNodes>& entry = of_key_[{own_key, counted.get()}];
  if (auto known = entry.lock()) return known;
  auto made = std::make_shared<EligibleNodes>(cluster, own_key, counted);
  entry = made;
  return made;
}

}  // namespace berth::plugins::pod_topology_spread

#include "plugins/node_resource_topology/assumed_cache.h"

#include <algorithm>
#include <utility>

#include "cluster/objects/object_store.h"
#include "plugins/node_resource_topology/pod_fingerprint.h"

namespace berth::plugins::node_resource_topology {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;

const cluster::CustomStores::Objects* StoreOf(const Cluster& cluster) {
  const cluster::CustomKind& kind = TopologyKind();
  return cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
}

const PodNeeds& Get(AssumedCache::NeedsOf& needs, const cluster::PodShape& shape) {
  return needs.Get(shape, [](const cluster::PodShape& of) { return PodNeeds(of.source); });
}

}  // namespace

AssumedCache::AssumedCache(const config::NodeResourceTopologyMatchArgs& args)
    : period_seconds_(args.cache_resync_period_seconds) {
  if (!args.cache) return;
  const auto is = [](const std::optional<std::string>& value, std::string_view name) {
    return value && *value == name;
  };
  const auto& cache = *args.cache;
  if (is(cache.foreign_pods_detect, "None")) detects_ = Foreign::kNone;
  if (is(cache.foreign_pods_detect, "OnlyExclusiveResources")) detects_ = Foreign::kExclusive;
  if (!is(cache.resync_method, "Autodetect")) method_ = Method::kAll;
  if (is(cache.resync_method, "OnlyExclusiveResources")) method_ = Method::kExclusive;
  follows_attributes_ = !cache.resync_scope || *cache.resync_scope == "All";
}

void AssumedCache::Update(const Cluster& cluster, std::string_view scheduler, const api::Time& now,
                          NeedsOf& needs) {
  const size_t known = entries_.size();
  ReadObjects(cluster);
  if (known != entries_.size() || nodes_ != cluster.NodeGeneration() ||
      rows_.size() != cluster.Rows()) {
    nodes_ = cluster.NodeGeneration();
    rows_.assign(cluster.Rows(), nullptr);
    cluster.Nodes().ForEach([&](NodeIndex n) {
      const auto it = entries_.find(cluster.NodeName(n));
      if (it != entries_.end()) rows_[n] = &it->second;
    });
  }
  if (detects_ != Foreign::kNone) {
    const auto find = [&](NodeIndex row) { FindForeign(cluster, row, scheduler, needs); };
    if (!read_rows_ || !cluster.Changes().ForEachSince(position_, find)) {
      for (NodeIndex row = 0; row < cluster.Rows(); ++row) find(row);
    }
    read_rows_ = true;
    position_ = cluster.Changes().Read();
  }
  if (now < next_resync_) return;
  next_resync_ = now;
  next_resync_.seconds += period_seconds_;
  Resync(cluster, needs);
}

// --- Objects

void AssumedCache::ReadObjects(const Cluster& cluster) {
  const auto* store = StoreOf(cluster);
  if (store == nullptr || store->Generation() == objects_) return;
  const auto read = [&](const std::string& key) {
    ReadObject(key.substr(key.find('/') + 1), store->FindKey(key));
  };
  if (objects_ == UINT64_MAX || !store->Changes().ForEachSince(objects_, read)) {
    store->ForEach(
        [&](const api::UnknownObject& object) { ReadObject(object.metadata.name, &object); });
  }
  objects_ = store->Generation();
}

// Only a node's first object counts at once. What was known of one that is gone stays.
void AssumedCache::ReadObject(const std::string& node, const api::UnknownObject* object) {
  auto topology = object == nullptr ? std::nullopt : NodeTopology::Parse(object->json);
  if (!topology) return;
  const auto [it, is_new] = entries_.try_emplace(node);
  Entry& entry = it->second;
  if (is_new) {
    entry.cached = *topology;
    entry.reduced = std::move(*topology);
  } else if (follows_attributes_) {
    entry.reconfigured |= entry.cached.policy != topology->policy ||
                          entry.cached.scope != topology->scope ||
                          entry.cached.max_numa_nodes != topology->max_numa_nodes;
  }
}

// --- Pods

void AssumedCache::FindForeign(const Cluster& cluster, NodeIndex row, std::string_view scheduler,
                               NeedsOf& needs) {
  Entry* entry = row < rows_.size() ? rows_[row] : nullptr;
  if (entry == nullptr) return;
  std::set<std::string> found;
  for (const cluster::PodId id : cluster.Record(row).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.assumed || pod.shape->source.spec.scheduler_name == scheduler) continue;
    if (detects_ == Foreign::kExclusive && !Get(needs, *pod.shape).IsExclusive()) continue;
    found.insert(pod.uid);
  }
  if (found == entry->foreign_pods) return;
  entry->foreign_pods = std::move(found);
  entry->foreign = true;
}

void AssumedCache::Reduce(Entry& entry) {
  entry.reduced = entry.cached;
  for (const auto& [pod, needs] : entry.assumed) {
    for (const auto& [name, quantity] : needs) {
      for (NumaCell& cell : entry.reduced.cells) {
        const auto it = cell.available.find(name);
        if (it == cell.available.end()) continue;
        if (it->second < quantity) {
          it->second = api::Quantity();
        } else {
          it->second.Sub(quantity);
        }
      }
    }
  }
}

void AssumedCache::Reserve(const std::string& node, const std::string& pod, const Needs& needs) {
  const auto it = entries_.find(node);
  if (it == entries_.end()) return;
  it->second.assumed.insert_or_assign(pod, needs);
  it->second.refused = false;
  Reduce(it->second);
}

void AssumedCache::Unreserve(const std::string& node, const std::string& pod) {
  const auto it = entries_.find(node);
  if (it == entries_.end() || it->second.assumed.erase(pod) == 0) return;
  Reduce(it->second);
}

// --- Resync

std::optional<NodeTopology> AssumedCache::Fresh(const Cluster& cluster, const std::string& node,
                                                const Entry& entry, NeedsOf& needs) const {
  const auto* object = StoreOf(cluster)->Find(node);
  const NodeIndex row = cluster.FindNode(node);
  if (object == nullptr || row == cluster::kNoNode) return std::nullopt;
  auto topology = NodeTopology::Parse(object->json);
  if (!topology || entry.reconfigured) return topology;
  std::string expected = topology->fingerprint;
  bool exclusive = method_ == Method::kExclusive ||
                   (method_ == Method::kAutodetect && topology->fingerprint_is_of_exclusive);
  if (!topology->has_fingerprint) {
    const auto it = object->metadata.annotations.find("topology.node.k8s.io/fingerprint");
    if (it == object->metadata.annotations.end()) return std::nullopt;
    expected = it->second;
    exclusive = false;
  }
  PodFingerprint fingerprint;
  bool any = false;
  for (const cluster::PodId id : cluster.Record(row).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.start_time.IsZero()) continue;  // its kubelet does not know it yet
    any = true;
    if (exclusive && !Get(needs, *pod.shape).IsExclusive()) continue;
    fingerprint.Add(pod.namespace_(), pod.name);
  }
  if (!any || fingerprint.Sign() != expected) return std::nullopt;
  return topology;
}

void AssumedCache::Resync(const Cluster& cluster, NeedsOf& needs) {
  for (auto& [node, entry] : entries_) {
    if (!entry.foreign && !entry.refused && !entry.reconfigured) continue;
    auto topology = Fresh(cluster, node, entry, needs);
    if (!topology) continue;
    entry.cached = *topology;
    entry.reduced = std::move(*topology);
    entry.assumed.clear();
    entry.refused = entry.foreign = entry.reconfigured = false;
  }
}

}  // namespace berth::plugins::node_resource_topology

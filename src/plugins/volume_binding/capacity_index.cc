#include "plugins/volume_binding/capacity_index.h"

#include "cluster/objects/object_store.h"

namespace berth::plugins::volume_binding {

const CapacityIndex::Class* CapacityIndex::Find(std::string_view storage_class) const {
  const auto it = classes_.find(std::string(storage_class));
  return it == classes_.end() ? nullptr : &it->second;
}

const CapacityIndex::Segment* CapacityIndex::FindRoom(const cluster::Cluster& cluster,
                                                      const Class& storage_class, int64_t size,
                                                      cluster::NodeIndex n) {
  const Segment* found = nullptr;
  storage_class.index.ForEach(n, [&](uint32_t i) {
    const Segment& segment = storage_class.segments[i];
    if (found == nullptr && segment.limit >= size && segment.terms.Matches(cluster, n)) {
      found = &segment;
    }
  });
  return found;
}

void CapacityIndex::Sync(const cluster::Cluster& cluster) {
  const auto& store = cluster.Objects().csi_storage_capacities;
  if (generation_ == store.Generation()) return;
  const bool known = store.Changes().ForEachSince(
      generation_, [&](const std::string& key) { Refresh(cluster, key); });
  generation_ = store.Generation();
  if (known) return;
  classes_.clear();
  places_.clear();
  store.ForEach([&](const api::CSIStorageCapacity& capacity) {
    Refresh(cluster, capacity.metadata.namespace_ + "/" + capacity.metadata.name);
  });
}

void CapacityIndex::Refresh(const cluster::Cluster& cluster, const std::string& key) {
  if (const auto it = places_.find(key); it != places_.end()) {
    Class& storage_class = classes_.find(it->second.storage_class)->second;
    Segment& segment = storage_class.segments[it->second.segment];
    storage_class.index.Remove(it->second.segment, segment.terms);
    segment = Segment();
    storage_class.free.push_back(it->second.segment);
    places_.erase(it);
  }
  const auto* capacity = cluster.Objects().csi_storage_capacities.FindKey(key);
  if (capacity == nullptr) return;
  // The largest single volume says more than the sum of what is free.
  const auto& limit =
      capacity->maximum_volume_size ? capacity->maximum_volume_size : capacity->capacity;
  if (!limit) return;
  Class& storage_class = classes_[capacity->storage_class_name];
  uint32_t slot;
  if (storage_class.free.empty()) {
    slot = static_cast<uint32_t>(storage_class.segments.size());
    storage_class.segments.emplace_back();
  } else {
    slot = storage_class.free.back();
    storage_class.free.pop_back();
  }
  Segment& segment = storage_class.segments[slot];
  segment.terms = LabelTerms::OfSelector(cluster, capacity->node_topology);
  segment.limit = limit->Value();
  segment.capacity = capacity->capacity ? capacity->capacity->Value() : 0;
  storage_class.index.Add(slot, segment.terms);
  places_.emplace(key, Place{capacity->storage_class_name, slot});
}

}  // namespace berth::plugins::volume_binding

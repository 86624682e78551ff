#include "plugins/volume_binding/volume_index.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::volume_binding {
namespace {

// From this many changes on, making the index anew costs less than following them.
constexpr uint64_t kManyChanges = 256;

std::string ClaimKey(std::string_view namespace_, std::string_view name) {
  std::string key(namespace_);
  key += '/';
  key += name;
  return key;
}

std::string_view ModeOr(const std::optional<std::string>& mode) {
  return mode ? std::string_view(*mode) : std::string_view("Filesystem");
}

std::string_view TextOr(const std::optional<std::string>& text) {
  return text ? std::string_view(*text) : std::string_view();
}

const api::Quantity& StorageIn(const api::ResourceList& resources) {
  static const api::Quantity kNone;
  const auto it = resources.find("storage");
  return it == resources.end() ? kNone : it->second;
}

AvailableVolume MakeAvailable(const api::PersistentVolume& volume) {
  AvailableVolume available;
  available.capacity = StorageIn(volume.spec.capacity);
  available.volume = &volume;
  available.access_modes = AccessModeBits(volume.spec.access_modes);
  available.plain = ModeOr(volume.spec.volume_mode) == "Filesystem" &&
                    TextOr(volume.spec.volume_attributes_class_name).empty() &&
                    !volume.metadata.deletion_timestamp;
  return available;
}

}  // namespace

uint8_t AccessModeBits(const std::vector<std::string>& modes) {
  constexpr std::array<std::string_view, 4> kKnown = {"ReadWriteOnce", "ReadOnlyMany",
                                                      "ReadWriteMany", "ReadWriteOncePod"};
  uint8_t bits = 0;
  for (const std::string& mode : modes) {
    const auto it = std::find(kKnown.begin(), kKnown.end(), mode);
    bits |= it == kKnown.end() ? kUnknownMode : static_cast<uint8_t>(1u << (it - kKnown.begin()));
  }
  return bits;
}

VolumeDemand::VolumeDemand(const api::PersistentVolumeClaim& claim,
                           std::optional<api::Selector> selector)
    : claim_(&claim),
      size_(StorageIn(claim.spec.resources.requests)),
      selector_(std::move(selector)),
      access_modes_(AccessModeBits(claim.spec.access_modes)),
      plain_(ModeOr(claim.spec.volume_mode) == "Filesystem" &&
             TextOr(claim.spec.volume_attributes_class_name).empty()) {}

bool VolumeDemand::AcceptsKind(const api::PersistentVolume& volume) const {
  return ModeOr(volume.spec.volume_mode) == ModeOr(claim_->spec.volume_mode) &&
         TextOr(volume.spec.volume_attributes_class_name) ==
             TextOr(claim_->spec.volume_attributes_class_name) &&
         !volume.metadata.deletion_timestamp;
}

bool VolumeDemand::Accepts(const api::PersistentVolume& volume) const {
  return StorageIn(volume.spec.capacity) >= size_ && AcceptsKind(volume);
}

bool VolumeDemand::Accepts(const AvailableVolume& available) const {
  if (available.capacity < size_ || (access_modes_ & ~available.access_modes) != 0) return false;
  if (!(plain_ && available.plain) && !AcceptsKind(*available.volume)) return false;
  if (selector_ && !selector_->Matches(available.volume->metadata.labels)) return false;
  if ((access_modes_ & kUnknownMode) == 0) return true;
  const auto& modes = available.volume->spec.access_modes;
  const auto& wanted = claim_->spec.access_modes;
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& mode) {
    return std::find(modes.begin(), modes.end(), mode) != modes.end();
  });
}

bool VolumeIndex::Before(const Available& a, const Available& b) {
  const int order = a.capacity.Compare(b.capacity);
  return order != 0 ? order < 0 : a.volume->metadata.name < b.volume->metadata.name;
}

const VolumeIndex::Class* VolumeIndex::Find(std::string_view storage_class) const {
  const auto it = classes_.find(std::string(storage_class));
  return it == classes_.end() ? nullptr : &it->second;
}

std::vector<const api::PersistentVolume*> VolumeIndex::ClaimedBy(std::string_view namespace_,
                                                                 std::string_view claim) const {
  const auto it = by_claim_.find(ClaimKey(namespace_, claim));
  if (it == by_claim_.end()) return {};
  std::vector<const api::PersistentVolume*> volumes = it->second;
  std::sort(volumes.begin(), volumes.end(),
            [](const auto* a, const auto* b) { return a->metadata.name < b->metadata.name; });
  return volumes;
}

void VolumeIndex::Sync(const cluster::Cluster& cluster, VolumeCache& cache) {
  const auto& store = cluster.Objects().persistent_volumes;
  if (generation_ == store.Generation()) return;
  const bool few = store.Generation() - generation_ <= kManyChanges;
  // First all that changed leave: the index must not compare with objects that are gone.
  bool known = few && store.Changes().ForEachSince(generation_, [&](const std::string& key) {
    cache.Forget(store, key);
    Remove(key.substr(1));
  });
  known = known && store.Changes().ForEachSince(generation_, [&](const std::string& key) {
    Refresh(cluster, cache, key.substr(1));
  });
  generation_ = store.Generation();
  if (known) return;
  cache.ForgetAll(store);
  Rebuild(cluster, cache);
}

void VolumeIndex::Rebuild(const cluster::Cluster& cluster, const VolumeCache& cache) {
  classes_.clear();
  entries_.clear();
  by_claim_.clear();
  const auto& store = cluster.Objects().persistent_volumes;
  store.ForEach([&](const api::PersistentVolume& volume) {
    const std::string& name = volume.metadata.name;
    Add(cluster, name, *cache.Latest(store, "/" + name), false);
  });
  for (auto& [name, storage_class] : classes_) {
    for (Group& group : storage_class.groups) {
      std::sort(group.volumes.begin(), group.volumes.end(), Before);
    }
  }
}

void VolumeIndex::Refresh(const cluster::Cluster& cluster, const VolumeCache& cache,
                          const std::string& name) {
  Remove(name);
  const auto* volume = cache.Latest(cluster.Objects().persistent_volumes, "/" + name);
  if (volume != nullptr) Add(cluster, name, *volume, true);
}

void VolumeIndex::Add(const cluster::Cluster& cluster, const std::string& name,
                      const api::PersistentVolume& volume, bool sorted) {
  Entry entry;
  entry.volume = &volume;
  if (volume.spec.claim_ref) {
    entry.claim = ClaimKey(volume.spec.claim_ref->namespace_, volume.spec.claim_ref->name);
    by_claim_[entry.claim].push_back(&volume);
  } else if (volume.status.phase == "Available") {
    entry.storage_class = std::string(ClassOf(volume));
    Class& storage_class = classes_[entry.storage_class];
    entry.group = GroupFor(cluster, storage_class, volume);
    auto& volumes = storage_class.groups[entry.group].volumes;
    Available available = MakeAvailable(volume);
    const auto at = sorted ? std::upper_bound(volumes.begin(), volumes.end(), available, Before)
                           : volumes.end();
    volumes.insert(at, std::move(available));
  } else {
    return;
  }
  entries_.insert_or_assign(name, std::move(entry));
}

void VolumeIndex::Remove(const std::string& name) {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return;
  // The object itself may be gone: only its address is looked at.
  const Entry& entry = it->second;
  if (const auto claimed = by_claim_.find(entry.claim);
      entry.group == kNoGroup && claimed != by_claim_.end()) {
    std::erase(claimed->second, entry.volume);
    if (claimed->second.empty()) by_claim_.erase(claimed);
  }
  if (entry.group != kNoGroup) {
    Class& storage_class = classes_.find(entry.storage_class)->second;
    Group& group = storage_class.groups[entry.group];
    std::erase_if(group.volumes, [&](const Available& a) { return a.volume == entry.volume; });
    if (group.volumes.empty()) {
      storage_class.index.Remove(entry.group, group.terms);
      storage_class.by_key.erase(group.key);
      storage_class.free.push_back(entry.group);
      group = Group();
      if (storage_class.by_key.empty()) classes_.erase(entry.storage_class);
    }
  }
  entries_.erase(it);
}

uint32_t VolumeIndex::GroupFor(const cluster::Cluster& cluster, Class& storage_class,
                               const api::PersistentVolume& volume) {
  std::optional<api::NodeSelector> affinity;
  if (volume.spec.node_affinity) affinity = volume.spec.node_affinity->required;
  std::string key = affinity ? api::ToJson(*affinity) : std::string();
  const auto it = storage_class.by_key.find(key);
  if (it != storage_class.by_key.end()) return it->second;
  uint32_t slot;
  if (storage_class.free.empty()) {
    slot = static_cast<uint32_t>(storage_class.groups.size());
    storage_class.groups.emplace_back();
  } else {
    slot = storage_class.free.back();
    storage_class.free.pop_back();
  }
  Group& group = storage_class.groups[slot];
  group.terms = LabelTerms::OfVolume(cluster, affinity);
  group.key = key;
  storage_class.index.Add(slot, group.terms);
  storage_class.by_key.emplace(std::move(key), slot);
  return slot;
}

}  // namespace berth::plugins::volume_binding

#include "plugins/dynamic_resources/inventory.h"

#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/capacity.h"

namespace berth::plugins::dynamic_resources {
namespace {

std::string DeviceKey(std::string_view driver, std::string_view pool, std::string_view device) {
  std::string key;
  key.reserve(driver.size() + pool.size() + device.size() + 2);
  key += driver;
  key += '/';
  key += pool;
  key += '/';
  key += device;
  return key;
}

std::string StoreKey(const api::ObjectMeta& metadata) {
  return metadata.namespace_ + "/" + metadata.name;
}

void SetBit(std::vector<uint64_t>& words, Slot slot, bool on) {
  const uint64_t bit = uint64_t{1} << (slot % kWordBits);
  if (on) {
    words[slot / kWordBits] |= bit;
  } else {
    words[slot / kWordBits] &= ~bit;
  }
}

// Calls set(key, object) for everything that has changed since `*seen`; null: it is gone. `keys`
// returns what was set before, for a reader that is too far behind. False: nothing has changed.
template <class T, class Keys, class Set>
bool ForChanged(const cluster::Store<T>& store, uint64_t* seen, Keys&& keys, Set&& set) {
  if (*seen == store.Generation()) return false;
  const bool complete = store.Changes().ForEachSince(
      *seen, [&](const std::string& key) { set(key, store.ShareKey(key)); });
  if (!complete) {
    for (const std::string& key : keys()) {
      if (store.FindKey(key) == nullptr) set(key, nullptr);
    }
    store.ForEach([&](const T& object) {
      const std::string key = StoreKey(object.metadata);
      set(key, store.ShareKey(key));
    });
  }
  *seen = store.Generation();
  return true;
}

}  // namespace

void Inventory::Sync(const cluster::ObjectStore& objects) {
  if (features_.taint_rules) SyncTaintRules(objects);
  SyncSlices(objects.resource_slices);
  SyncClaims(objects.resource_claims, &claims_seen_, &claim_use_);
  SyncClaims(objects.in_flight_claims, &in_flight_seen_, &in_flight_use_);
}

std::string Inventory::DeviceId(Slot slot) const {
  const api::ResourceSliceSpec& spec = SliceObject(slot).spec;
  return DeviceKey(spec.driver, spec.pool.name, DeviceAt(slot).name);
}

// --- slices

void Inventory::SyncTaintRules(const cluster::ObjectStore& objects) {
  ForChanged(
      objects.device_classes, &classes_seen_, [&] { return taint_rules_.ClassKeys(); },
      [&](const std::string& key, TaintRules::ClassPtr device_class) {
        SetTainted(taint_rules_.SetClass(key, std::move(device_class)));
      });
  ForChanged(
      objects.device_taint_rules, &rules_seen_, [&] { return taint_rules_.RuleKeys(); },
      [&](const std::string& key, TaintRules::RulePtr rule) {
        SetTainted(taint_rules_.SetRule(key, std::move(rule)));
      });
}

void Inventory::SetTainted(const std::vector<TaintRules::KeyedSlice>& slices) {
  for (const TaintRules::KeyedSlice& tainted : slices) SetSlice(tainted.key, *tainted.slice);
  if (!slices.empty()) ++serial_;
}

void Inventory::SyncSlices(const cluster::Store<api::ResourceSlice>& store) {
  const auto keys = [&] {
    std::vector<std::string> all;
    for (const auto& [key, id] : slice_of_key_) all.push_back(key);
    return all;
  };
  const bool changed = ForChanged(store, &slices_seen_, keys,
                                  [&](const std::string& key, TaintRules::SlicePtr slice) {
                                    if (slice == nullptr) {
                                      if (features_.taint_rules) taint_rules_.RemoveSlice(key);
                                      RemoveSlice(key);
                                      return;
                                    }
                                    if (features_.taint_rules)
                                      slice = taint_rules_.SetSlice(key, std::move(slice));
                                    if (slice != nullptr) SetSlice(key, *slice);
                                  });
  if (changed) ++serial_;
}

void Inventory::SetSlice(const std::string& key, const api::ResourceSlice& slice) {
  const auto it = slice_of_key_.find(key);
  if (it != slice_of_key_.end()) {
    ClearSlice(it->second);
    FillSlice(it->second, slice);
    return;
  }
  SliceId id = 0;
  if (free_slices_.empty()) {
    id = static_cast<SliceId>(slices_.size());
    slices_.emplace_back();
    keys_of_slice_.emplace_back();
  } else {
    id = free_slices_.back();
    free_slices_.pop_back();
  }
  slice_of_key_.emplace(key, id);
  slices_[id].order = ++orders_;
  FillSlice(id, slice);
}

void Inventory::RemoveSlice(const std::string& key) {
  const auto it = slice_of_key_.find(key);
  if (it == slice_of_key_.end()) return;
  ClearSlice(it->second);
  slices_[it->second].object = nullptr;
  free_slices_.push_back(it->second);
  slice_of_key_.erase(it);
}

uint32_t Inventory::TakeWords(uint32_t count) {
  std::vector<uint32_t>& free = free_words_[count];
  if (!free.empty()) {
    const uint32_t first = free.back();
    free.pop_back();
    return first;
  }
  const auto first = static_cast<uint32_t>(slice_of_word_.size());
  const size_t size = slice_of_word_.size() + count;
  slice_of_word_.resize(size);
  in_use_.resize(size);
  counters_.resize(size);
  tainted_.resize(size);
  conditional_.resize(size);
  return first;
}

void Inventory::FillSlice(SliceId id, const api::ResourceSlice& slice) {
  SliceRecord& record = slices_[id];
  const std::vector<api::Device>& devices = slice.spec.devices;
  record.object = &slice;
  record.serial = ++serial_;
  record.words = static_cast<uint32_t>((devices.size() + kWordBits - 1) / kWordBits);
  record.first_word = record.words == 0 ? 0 : TakeWords(record.words);
  record.binding_conditions = false;
  DeviceKeys& keys = keys_of_slice_[id];
  keys.clear();
  for (uint32_t w = 0; w < record.words; ++w) slice_of_word_[record.first_word + w] = id;
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto slot = static_cast<Slot>(record.first_word * kWordBits + i);
    keys.push_back(DeviceKey(slice.spec.driver, slice.spec.pool.name, devices[i].name));
    Device& device = devices_[keys.back()];
    device.slots.push_back(slot);
    SetBit(in_use_, slot, device.uses > 0);
    SetBit(counters_, slot, !devices[i].consumes_counters.empty());
    SetBit(tainted_, slot, !devices[i].taints.empty());
    SetBit(conditional_, slot,
           !features_.binding_conditions && !devices[i].binding_conditions.empty());
    record.binding_conditions |= !devices[i].binding_conditions.empty();
  }
}

void Inventory::ClearSlice(SliceId id) {
  SliceRecord& record = slices_[id];
  const DeviceKeys& keys = keys_of_slice_[id];
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto slot = static_cast<Slot>(record.first_word * kWordBits + i);
    const auto it = devices_.find(keys[i]);
    auto& slots = it->second.slots;
    slots.erase(std::find(slots.begin(), slots.end(), slot));
    if (slots.empty() && it->second.uses == 0) devices_.erase(it);
  }
  for (uint32_t w = record.first_word; w < record.first_word + record.words; ++w) {
    in_use_[w] = counters_[w] = tainted_[w] = conditional_[w] = 0;
  }
  if (record.words > 0) free_words_[record.words].push_back(record.first_word);
  keys_of_slice_[id].clear();
  record.words = 0;
}

// --- claims

void Inventory::SyncClaims(const cluster::Store<api::ResourceClaim>& store, uint64_t* seen,
                           ClaimUse* use) {
  if (*seen == store.Generation()) return;
  const bool complete = store.Changes().ForEachSince(
      *seen, [&](const std::string& key) { SetUse(use, key, store.FindKey(key)); });
  if (!complete) {
    std::vector<std::string> held;
    for (const auto& [key, devices] : *use) held.push_back(key);
    for (const std::string& key : held) SetUse(use, key, nullptr);
    store.ForEach(
        [&](const api::ResourceClaim& claim) { SetUse(use, StoreKey(claim.metadata), &claim); });
  }
  *seen = store.Generation();
}

// Devices used with admin access are held by nobody.
Inventory::Held Inventory::HeldBy(const api::ResourceClaim& claim) const {
  Held held;
  if (!claim.status.allocation) return held;
  for (const api::DeviceRequestAllocationResult& result :
       claim.status.allocation->devices.results) {
    if (result.admin_access.value_or(false)) continue;
    std::string key = DeviceKey(result.driver, result.pool, result.device);
    if (!features_.consumable_capacity || !result.share_id) {
      held.devices.push_back(std::move(key));
    } else if (!result.consumed_capacity.empty()) {
      held.shares.push_back({std::move(key), result.consumed_capacity});
    }
  }
  return held;
}

void Inventory::SetUse(ClaimUse* use, const std::string& key, const api::ResourceClaim* claim) {
  Held now = claim != nullptr ? HeldBy(*claim) : Held{};
  const bool nothing = now.devices.empty() && now.shares.empty();
  const auto it = use->find(key);
  if (it == use->end() ? nothing : it->second == now) return;
  for (const std::string& device : now.devices) AddUse(device, 1);
  for (const Share& share : now.shares) AddShare(share);
  if (it != use->end()) {
    for (const std::string& device : it->second.devices) AddUse(device, -1);
    for (const Share& share : it->second.shares) RemoveShare(share);
  }
  if (!nothing) {
    (*use)[key] = std::move(now);
  } else {
    use->erase(it);
  }
}

void Inventory::AddShare(const Share& share) {
  auto& [holders, amounts] = consumed_[share.device_key];
  ++holders;
  AddCapacity(share.amounts, &amounts);
  NoteShare(share);
}

void Inventory::RemoveShare(const Share& share) {
  const auto it = consumed_.find(share.device_key);
  SubtractCapacity(share.amounts, &it->second.second);
  if (--it->second.first == 0) consumed_.erase(it);
  NoteShare(share);
}

void Inventory::NoteShare(const Share& share) {
  const auto it = devices_.find(share.device_key);
  if (it == devices_.end()) return;
  for (const Slot slot : it->second.slots) use_changes_.Note(SliceOf(slot), slices_.size());
}

const api::ResourceList* Inventory::Consumed(Slot slot) const {
  const SliceId id = SliceOf(slot);
  const auto it = consumed_.find(keys_of_slice_[id][slot - slices_[id].first_word * kWordBits]);
  return it == consumed_.end() ? nullptr : &it->second.second;
}

void Inventory::AddUse(const std::string& device_key, int delta) {
  Device& device = devices_[device_key];
  const bool before = device.uses > 0;
  device.uses = static_cast<uint32_t>(static_cast<int64_t>(device.uses) + delta);
  const bool after = device.uses > 0;
  if (before != after) {
    for (const Slot slot : device.slots) {
      SetBit(in_use_, slot, after);
      use_changes_.Note(SliceOf(slot), slices_.size());
    }
  }
  if (device.uses == 0 && device.slots.empty()) devices_.erase(device_key);
}

}  // namespace berth::plugins::dynamic_resources

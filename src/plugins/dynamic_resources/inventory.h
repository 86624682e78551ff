// Inventory: all devices of all resource slices, and which of them are in use.
//
// Every device has a slot; the slots of a slice are whole 64-bit words, so that what is read
// devices (in use, matching a selector) is a bitmap with the same layout everywhere. Updated from
// the object store through its change log. Threads: Sync on one thread; everything else may be read
// by several threads while none calls Sync. Invariant: after Sync the objects pointed to are those
// of the store, or copies with the taints of DeviceTaintRules, until the store changes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/objects/object_store.h"
#include "cluster/table/change_log.h"
#include "config/behaviour.h"
#include "plugins/dynamic_resources/taint_rules.h"

namespace berth::plugins::dynamic_resources {

using SliceId = uint32_t;
using Slot = uint32_t;
inline constexpr uint32_t kWordBits = 64;

struct SliceRecord {
  const api::ResourceSlice* object = nullptr;  // null: the id is free
  uint64_t serial = 0;                         // never the same for two contents
  uint64_t order = 0;                          // of first arrival
  uint32_t first_word = 0;
  uint32_t words = 0;
  bool binding_conditions = false;  // some device has them
};

// More than twenty fields: bitmaps over the same slots, which grow together.
class Inventory {
 public:
  explicit Inventory(const config::DraFeatures& features = {})
      : features_(features), taint_rules_(features) {}

  void Sync(const cluster::ObjectStore& objects);

  std::span<const SliceRecord> Slices() const { return slices_; }
  // Changes when slices do.
  uint64_t SliceSerial() const { return serial_; }
  // Slices with a device that was taken or became free.
  const cluster::ChangeLog<SliceId>& UseChanges() const { return use_changes_; }

  size_t Words() const { return slice_of_word_.size(); }
  // Bitmaps over slots: taken by some claim; consuming shared counters; with taints; needing
  // conditions before binding where these are not followed.
  const std::vector<uint64_t>& InUse() const { return in_use_; }
  const std::vector<uint64_t>& Counters() const { return counters_; }
  const std::vector<uint64_t>& Tainted() const { return tainted_; }
  const std::vector<uint64_t>& Conditional() const { return conditional_; }

  bool IsInUse(Slot slot) const {
    return (in_use_[slot / kWordBits] >> (slot % kWordBits) & 1) != 0;
  }
  // What claims consume of a device they share; null for nothing.
  const api::ResourceList* Consumed(Slot slot) const;
  SliceId SliceOf(Slot slot) const { return slice_of_word_[slot / kWordBits]; }
  const api::ResourceSlice& SliceObject(Slot slot) const { return *slices_[SliceOf(slot)].object; }
  const api::Device& DeviceAt(Slot slot) const {
    const SliceRecord& record = slices_[SliceOf(slot)];
    return record.object->spec.devices[slot - record.first_word * kWordBits];
  }
  const config::DraFeatures& Features() const { return features_; }
  // "driver/pool/device".
  std::string DeviceId(Slot slot) const;

 private:
  struct Device {
    uint32_t uses = 0;
    boost::container::small_vector<Slot, 1> slots;
  };
  using DeviceKeys = std::vector<std::string>;
  // What a claim has of a device that it shares.
  struct Share {
    std::string device_key;
    api::ResourceList amounts;

    bool operator==(const Share&) const = default;
  };
  struct Held {
    DeviceKeys devices;
    std::vector<Share> shares;

    bool operator==(const Held&) const = default;
  };
  // Devices each claim holds, by "namespace/name".
  using ClaimUse = boost::unordered_flat_map<std::string, Held>;

  void SyncTaintRules(const cluster::ObjectStore& objects);
  void SyncSlices(const cluster::Store<api::ResourceSlice>& store);
  void SetTainted(const std::vector<TaintRules::KeyedSlice>& slices);
  void SetSlice(const std::string& key, const api::ResourceSlice& slice);
  void RemoveSlice(const std::string& key);
  void FillSlice(SliceId id, const api::ResourceSlice& slice);
  void ClearSlice(SliceId id);
  uint32_t TakeWords(uint32_t count);

  void SyncClaims(const cluster::Store<api::ResourceClaim>& store, uint64_t* seen, ClaimUse* use);
  Held HeldBy(const api::ResourceClaim& claim) const;
  void SetUse(ClaimUse* use, const std::string& key, const api::ResourceClaim* claim);
  void AddUse(const std::string& device_key, int delta);
  void AddShare(const Share& share);
  void RemoveShare(const Share& share);
  void NoteShare(const Share& share);

  const config::DraFeatures features_;
  uint64_t serial_ = 0;
  uint64_t orders_ = 0;
  uint64_t rules_seen_ = 0;
  uint64_t classes_seen_ = 0;
  uint64_t slices_seen_ = 0;
  uint64_t claims_seen_ = 0;
  uint64_t in_flight_seen_ = 0;

  TaintRules taint_rules_;  // with features_.taint_rules; owns the slices that have such taints
  std::vector<SliceRecord> slices_;
  std::vector<DeviceKeys> keys_of_slice_;  // what each slice's slots are registered under
  std::vector<SliceId> free_slices_;
  boost::unordered_flat_map<std::string, SliceId> slice_of_key_;

  std::vector<SliceId> slice_of_word_;
  std::vector<uint64_t> in_use_;
  std::vector<uint64_t> counters_;
  std::vector<uint64_t> tainted_;
  std::vector<uint64_t> conditional_;
  boost::unordered_flat_map<uint32_t, std::vector<uint32_t>> free_words_;  // by how many in a row

  boost::unordered_flat_map<std::string, Device> devices_;
  ClaimUse claim_use_;
  ClaimUse in_flight_use_;
  // Of shared devices, with how many claims share them.
  boost::unordered_flat_map<std::string, std::pair<uint32_t, api::ResourceList>> consumed_;
  cluster::ChangeLog<SliceId> use_changes_;
};

}  // namespace berth::plugins::dynamic_resources

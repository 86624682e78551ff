// VolumeIndex: the volumes a claim could be bound to, by storage class and by where they are.
//
// Volumes of a class that can be reached from the same nodes form a group, sorted by size, so the
// smallest volume for a claim on a node is near the front of the few groups the node can reach.
// Volumes that have a claimRef are found by it. Kept up to date through the store's change log.
//
// Threads: Sync and Refresh on the cycle's own thread; the rest only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/persistent_volume.h"
#include "api/core/persistent_volume_claim.h"
#include "api/rules/label_selector.h"
#include "cluster/cluster.h"
#include "plugins/common/label_terms.h"
#include "plugins/volume_binding/assume_cache.h"

namespace berth::plugins::volume_binding {

using VolumeCache = AssumeCache<api::PersistentVolume>;

// A volume without a claim. The fields that most claims test lie beside the pointer, so that most
// volumes are rejected without dereferencing it.
struct AvailableVolume {
  api::Quantity capacity;
  const api::PersistentVolume* volume = nullptr;
  uint8_t access_modes = 0;  // bits of AccessModeBits
  bool plain = false;        // a file system without an attributes class, not about to go
};

// One bit per access mode; an unknown mode has its own, which stands for all of them.
uint8_t AccessModeBits(const std::vector<std::string>& modes);
inline constexpr uint8_t kUnknownMode = 1u << 7;

// A claim's requirements on a volume, regardless of its location.
class VolumeDemand {
 public:
  VolumeDemand() = default;
  VolumeDemand(const api::PersistentVolumeClaim& claim, std::optional<api::Selector> selector);

  const api::PersistentVolumeClaim* claim() const { return claim_; }
  const api::Quantity& size() const { return size_; }

  // Big enough, of the right mode and attributes class, and not about to go.
  bool Accepts(const api::PersistentVolume& volume) const;
  // Also matches the requested labels and access modes.
  bool Accepts(const AvailableVolume& available) const;

 private:
  bool AcceptsKind(const api::PersistentVolume& volume) const;

  const api::PersistentVolumeClaim* claim_ = nullptr;
  api::Quantity size_;
  std::optional<api::Selector> selector_;
  uint8_t access_modes_ = 0;
  bool plain_ = false;
};

class VolumeIndex {
 public:
  using Available = AvailableVolume;
  // The order in which volumes are preferred: by capacity, then by name.
  static bool Before(const Available& a, const Available& b);
  struct Group {
    std::string key;  // the affinity, as a string
    LabelTerms terms;
    std::vector<Available> volumes;  // preferred ones first; empty: a free slot
  };
  struct Class {
    std::vector<Group> groups;
    std::vector<uint32_t> free;
    LabelTermIndex index;  // of positions in groups
    boost::unordered_flat_map<std::string, uint32_t> by_key;
  };

  void Sync(const cluster::Cluster& cluster, VolumeCache& cache);
  // The volume was assumed or restored.
  void Refresh(const cluster::Cluster& cluster, const VolumeCache& cache, const std::string& name);

  // Null: no volume of the class is to be had.
  const Class* Find(std::string_view storage_class) const;
  // Volumes with a claimRef of this name, in order of name.
  std::vector<const api::PersistentVolume*> ClaimedBy(std::string_view namespace_,
                                                      std::string_view claim) const;

 private:
  struct Entry {
    const api::PersistentVolume* volume = nullptr;
    std::string claim;          // key of by_claim_; empty: not there
    std::string storage_class;  // with group
    uint32_t group = kNoGroup;
  };
  static constexpr uint32_t kNoGroup = ~uint32_t{0};

  void Rebuild(const cluster::Cluster& cluster, const VolumeCache& cache);
  void Add(const cluster::Cluster& cluster, const std::string& name,
           const api::PersistentVolume& volume, bool sorted);
  void Remove(const std::string& name);
  uint32_t GroupFor(const cluster::Cluster& cluster, Class& storage_class,
                    const api::PersistentVolume& volume);

  boost::unordered_flat_map<std::string, Class> classes_;
  boost::unordered_flat_map<std::string, Entry> entries_;  // by name of the volume
  boost::unordered_flat_map<std::string, std::vector<const api::PersistentVolume*>> by_claim_;
  uint64_t generation_ = 0;
};

}  // namespace berth::plugins::volume_binding

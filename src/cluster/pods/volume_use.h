// VolumeUseTable: which placed pods use which claims and disks, and on which nodes pods with
// volumes came or went.
//
// Kept as pods are placed and taken away, so nobody has to walk over pods to find out who uses a
// volume. Only what can be told from the pod itself is here: what a claim is bound to is not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/volume.h"
#include "cluster/ids.h"
#include "cluster/table/change_log.h"

namespace berth::cluster {

struct PodShape;

// What a claim is called in the table.
std::string ClaimUseKey(std::string_view namespace_, std::string_view claim);
// The same for a disk that the pod names without a claim and that pods cannot always share (GCE
// disk, EBS volume, iSCSI target, RBD image); empty for any other volume. Different disks of one
// kind may have one key, equal disks always do.
std::string DiskUseKey(const api::Volume& volume);

class VolumeUseTable {
 public:
  struct Use {
    NodeIndex node;
    PodId pod;
    bool operator==(const Use&) const = default;
  };

  // The pod was placed on the node, or taken off it.
  void Add(const PodShape& shape, PodId pod, NodeIndex node);
  void Remove(const PodShape& shape, PodId pod, NodeIndex node);

  // Placed pods that use what `key` stands for, once per volume, in no particular order. Nodes may
  // be ghosts.
  std::span<const Use> UsesOf(StringId key) const {
    const auto it = uses_.find(key);
    if (it == uses_.end()) return {};
    return it->second;
  }

  // The changes: nodes that got or lost a pod with volumes.
  const ChangeLog<NodeIndex>& Changes() const { return changes_; }
  // When the node last got or lost a pod with volumes, as a generation of Changes().
  uint64_t ChangedAt(NodeIndex n) const { return n < changed_at_.size() ? changed_at_[n] : 0; }

 private:
  void NoteChange(NodeIndex node);

  boost::unordered_flat_map<StringId, std::vector<Use>> uses_;
  std::vector<uint64_t> changed_at_;  // by row
  ChangeLog<NodeIndex> changes_;
};

}  // namespace berth::cluster

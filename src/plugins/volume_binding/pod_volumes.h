// PodVolumes: the requirements of a pod's claims on a node, prepared once per cycle and checked per
// node.
//
// A bound claim needs a node from which its volume is reachable. A claim that waits for its first
// consumer needs an existing free volume, the smallest that fits, or a node where one can be
// provisioned.
//
// Threads: Prepare on the cycle's own thread; Check only reads. Good until the cluster's volume
// objects change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "cluster/cluster.h"
#include "cluster/table/row_log.h"
#include "framework/points/status.h"
#include "plugins/common/csi_translation.h"
#include "plugins/common/label_terms.h"
#include "plugins/volume_binding/capacity_index.h"
#include "plugins/volume_binding/volume_index.h"

namespace berth::plugins::volume_binding {

using ClaimCache = AssumeCache<api::PersistentVolumeClaim>;

inline constexpr std::string_view kNodeConflict =
    "node(s) didn't match PersistentVolume's node affinity";
inline constexpr std::string_view kBindConflict =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view kNotEnoughSpace = "node(s) did not have enough free storage";
inline constexpr std::string_view kVolumeMissing =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

// Why a node was rejected. Bits combine; their reasons are reported in this order.
enum Reason : uint32_t {
  kNodeConflictBit = 1u << 0,
  kBindConflictBit = 1u << 1,
  kNotEnoughSpaceBit = 1u << 2,
  kVolumeMissingBit = 1u << 3,
};

// Nodes whose CSI drivers replace an in-tree plugin, according to their CSINodes.
class MigratedNodes {
 public:
  // The set stays good until the next call after a change of nodes or CSINodes.
  const cluster::NodeSet& Of(const cluster::Cluster& cluster, InTreeKind kind);
  // Rows that entered or left a set, logged when the set is requested.
  const cluster::RowLog& Changes() const { return changes_; }

 private:
  struct Known {
    cluster::NodeSet nodes;
    uint64_t node_generation = 0;
    uint64_t csi_node_generation = 0;
    bool valid = false;
  };
  std::array<Known, kInTreeKinds> by_kind_;
  cluster::NodeSet before_;
  cluster::RowLog changes_;
};

// What the plugin knows about the cluster's volumes.
struct VolumeView {
  VolumeCache volumes{"v1.PersistentVolume", "persistentvolumes"};
  ClaimCache claims{"v1.PersistentVolumeClaim", "persistentvolumeclaims"};
  VolumeIndex index;
  CapacityIndex capacities;
  MigratedNodes migrated;
  uint64_t claim_generation = 0;

  void Sync(const cluster::Cluster& cluster);
};

// What would be done for the pod on a node.
struct Decision {
  struct Binding {
    const api::PersistentVolumeClaim* claim;
    const api::PersistentVolume* volume;
  };
  struct Provision {
    const api::PersistentVolumeClaim* claim;
    std::optional<int64_t> capacity;  // published for where it would be
  };
  std::vector<Binding> bindings;
  std::vector<Provision> provisions;
};

class PodVolumes {
 public:
  // Skip: the pod has no claims. A rejection or error: no node will do.
  framework::Status Prepare(const cluster::Cluster& cluster, const cluster::Pod& pod,
                            VolumeView& view);

  // Every node will do, and there is nothing to bind.
  bool IsTrivial() const { return trivial_; }
  // Are all claims bound already?
  bool AllBound() const { return unbound_.empty(); }

  // Appends numbers: where they are equal, so are the answers on every node, as long as published
  // capacities stay as they are. False: there are none.
  bool AppendNumbers(std::vector<int64_t>* out) const;
  // Do published capacities matter?
  bool IsLimited() const;

  // The answer for one node.
  struct Answer {
    uint32_t reasons = 0;  // bits of Reason; 0: the node will do
    uint32_t error = 0;    // not 0: the node cannot be judged; a number for ErrorText
  };
  // `decision` may be null; it is only meaningful when the node will do.
  Answer Check(const cluster::Cluster& cluster, cluster::NodeIndex n, Decision* decision) const;
  const std::string& ErrorText(uint32_t error) const { return errors_[error - 1]; }

 private:
  struct Bound {
    bool missing = false;  // the volume does not exist
    LabelTerms terms;
    // For an in-tree volume: on these nodes it counts as the CSI volume that replaces it.
    const cluster::NodeSet* migrated = nullptr;
    InTreeKind in_tree = InTreeKind::kNone;
    LabelTerms translated;
    uint32_t error = 0;  // of the translation
  };
  // A claim without a volume: what to do for it on a node.
  struct Unbound {
    VolumeDemand demand;
    // Provisioning was begun for this node, so no other will do (kNoNode: one that is gone).
    std::optional<cluster::NodeIndex> selected;
    uint32_t error = 0;  // of its selector

    struct Claimed {
      const api::PersistentVolume* volume;
      LabelTerms terms;
    };
    std::vector<Claimed> claimed;  // volumes that were made for it
    const VolumeIndex::Class* available = nullptr;
    // The first volumes of each group that would do, when there are few groups.
    std::vector<std::vector<VolumeIndex::Available>> best;

    bool provisioner = false;
    LabelTerms topology;
    bool limited = false;  // by the capacities that were published, for this storage class:
    cluster::StringId storage_class = cluster::kNoString;
    const CapacityIndex::Class* capacities = nullptr;
    int64_t size = 0;
  };
  using Chosen = boost::container::small_vector<const api::PersistentVolume*, 8>;

  framework::Status CheckClaims(const cluster::Cluster& cluster, const cluster::Pod& pod);
  void AddBound(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim,
                VolumeView& view);
  void AddUnbound(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim,
                  const api::StorageClass& storage_class, VolumeView& view);
  void FindClaimed(const cluster::Cluster& cluster, const VolumeIndex& index, Unbound* unbound);
  void FindBest(Unbound* unbound);
  void OrderBySize();
  uint32_t AddError(std::string text);

  Answer CheckBound(const cluster::Cluster& cluster, cluster::NodeIndex n) const;
  const api::PersistentVolume* FindVolume(const cluster::Cluster& cluster, const Unbound& unbound,
                                          cluster::NodeIndex n, const Chosen& chosen) const;
  // `capacity` receives what was published for where the volume would be.
  uint32_t CheckProvision(const cluster::Cluster& cluster, const Unbound& unbound,
                          cluster::NodeIndex n, std::optional<int64_t>* capacity) const;

  bool trivial_ = false;
  std::vector<const api::PersistentVolumeClaim*> claims_;  // scratch: all of the pod, in order
  std::vector<Bound> bound_;
  std::vector<Unbound> unbound_;   // in the pod's order
  std::vector<uint32_t> by_size_;  // those that look for a volume, smallest first
  std::vector<std::string> errors_;
};

}  // namespace berth::plugins::volume_binding

// VolumeUsage: for every node, the CSI volumes its pods use and its attachments hold, counted by
// driver, and how many it may hold.
//
// Derived from pods, claims, volumes, classes, attachments and CSINodes. Sync() updates the nodes
// for which one of these has changed, found through the change logs and the dependencies of each
// node's result, so a cycle costs what changed since the last one.
//
// Threads: Sync and ColumnOf on the cycle's own thread; the rest only reads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "cluster/table/dictionary.h"
#include "cluster/table/row_log.h"
#include "plugins/node_volume_limits/csi_volumes.h"

namespace berth::plugins::node_volume_limits {

// A node's volumes.
struct NodeUsage {
  NodeKind kind = NodeKind::kNoCsiNode;
  std::vector<cluster::StringId> volumes;               // of pods, sorted
  std::vector<std::pair<std::string, int32_t>> limits;  // by driver
  std::vector<std::pair<std::string, int32_t>> used;    // by driver, attachments included
  // The pod whose volumes cannot be determined; then the node cannot be evaluated.
  cluster::PodId bad_pod = cluster::kNoPod;

  int32_t Limit(std::string_view driver) const;  // kNoLimit if there is none
  int32_t Used(std::string_view driver) const;
};
inline constexpr int32_t kNoLimit = std::numeric_limits<int32_t>::max();

// More than twenty fields: seven kinds of objects are followed, each with its place in a change
// log, and an index from it to the nodes that depend on it.
class VolumeUsage {
 public:
  explicit VolumeUsage(bool all_migrated = false) : all_migrated_(all_migrated) {}

  // Used and limit of one driver over all rows, padded to whole words of a NodeSet.
  struct Column {
    std::vector<int32_t> used;
    std::vector<int32_t> limit;
  };

  void Sync(const cluster::Cluster& cluster);

  // REQUIRES: Sync ran since the cluster last changed.
  const NodeUsage& Of(cluster::NodeIndex n) const { return rows_[n].usage; }
  // The id of a volume that pods of some node have; kNoString for any other.
  cluster::StringId FindVolume(std::string_view name) const;
  // Ids are good as long as this is the same.
  uint64_t NamesSerial() const { return names_serial_; }
  // Rows that Sync has derived again.
  const cluster::RowLog& Changes() const { return changes_; }
  // Nodes that cannot be judged.
  const cluster::NodeSet& Bad() const { return bad_; }
  // Kept up to date by Sync from the first call on, and never moved.
  const Column& ColumnOf(const std::string& driver);

  // Have pods with volumes come or gone since Sync, anywhere or on a node?
  bool IsStale(const cluster::Cluster& cluster) const {
    return cluster.VolumeUse().Changes().Generation() != use_generation_;
  }
  bool IsStale(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    return cluster.VolumeUse().ChangedAt(n) > use_generation_;
  }
  // The names and counts of a node as it is now: for a node that is stale.
  struct Fresh {
    NodeUsage usage;                 // without volumes
    std::vector<std::string> names;  // of pods' volumes, sorted
  };
  Fresh DeriveNow(const cluster::Cluster& cluster, cluster::NodeIndex n) const;

 private:
  const bool all_migrated_;
  // How much of what is known about a row is to be derived again.
  enum Dirt : uint8_t { kClean = 0, kPods = 1, kAttachments = 2, kEverything = 4 };
  // A volume, and a number for its driver.
  struct Held {
    cluster::StringId name;
    uint32_t driver;
  };
  // What a pod of a node, or the attachments of a node, hold.
  struct Holder {
    cluster::PodId pod = cluster::kNoPod;
    uint64_t shape = 0;  // serial
    std::string pod_name;
    std::string pod_uid;
    bool bad = false;
    std::vector<Held> volumes;
    std::vector<std::string> depends;  // keys of dependents_

    bool IsOf(const cluster::Pod& other) const;
  };
  struct Row {
    cluster::StringId node = cluster::kNoString;  // the node of the row; kNoString: none
    NodeUsage usage;
    std::vector<Holder> pods;  // those with volumes; none where nothing is limited
    Holder attached;
    size_t names = 0;  // in use here, as counted in name_uses_
    uint8_t dirty = kClean;
  };

  void MarkDirty(cluster::NodeIndex n, Dirt dirt = kEverything);
  void MarkAll();
  void MarkDependents(char kind, const std::string& key);
  void MarkNode(const cluster::Cluster& cluster, std::string_view name, Dirt dirt);
  void SyncRows(const cluster::Cluster& cluster);
  void SyncAttachments(const cluster::Cluster& cluster);
  void SetAttachment(const cluster::Cluster& cluster, const std::string& key);
  void Derive(const cluster::Cluster& cluster, cluster::NodeIndex n);
  void ForgetHolders(cluster::NodeIndex n);
  void DerivePods(const cluster::Cluster& cluster, cluster::NodeIndex n);
  void DeriveAttached(const cluster::Cluster& cluster, cluster::NodeIndex n);
  void Count(Row& row);
  void Hold(cluster::NodeIndex n, std::vector<CsiVolume> volumes, const Dependencies& depends,
            Holder* holder);
  void Undepend(cluster::NodeIndex n, const Holder& holder);
  // The volumes of the node's attachments, perhaps named twice.
  std::vector<CsiVolume> Attached(const cluster::Cluster& cluster, cluster::NodeIndex n,
                                  Dependencies* depends) const;
  void FillColumn(const std::string& driver, cluster::NodeIndex n, Column* column) const;

  std::vector<Row> rows_;
  std::vector<cluster::NodeIndex> dirty_;
  cluster::NodeSet bad_;
  // Replaced by a new one when most of it is about volumes that are gone.
  std::unique_ptr<cluster::Dictionary> names_ = std::make_unique<cluster::Dictionary>();
  uint64_t names_serial_ = 0;
  std::vector<uint32_t> nodes_with_;  // by id: how many nodes have the volume
  size_t name_uses_ = 0;
  cluster::Dictionary drivers_;
  std::vector<Held> held_;  // scratch
  std::vector<Held> attached_;
  std::vector<Holder> holders_;
  cluster::RowLog changes_;
  boost::unordered_flat_map<std::string, std::unique_ptr<Column>> columns_;
  // Rows that depend on an object, by kind letter and key.
  boost::unordered_flat_map<std::string, std::vector<cluster::NodeIndex>> dependents_;
  // Attachments by their key, and by the name of their node.
  boost::unordered_flat_map<std::string, std::string> node_of_attachment_;
  boost::unordered_flat_map<std::string, std::vector<std::string>> attachments_of_node_;

  bool synced_ = false;
  uint64_t node_generation_ = 0;
  uint64_t use_generation_ = 0;
  uint64_t claim_generation_ = 0;
  uint64_t volume_generation_ = 0;
  uint64_t class_generation_ = 0;
  uint64_t csi_node_generation_ = 0;
  uint64_t attachment_generation_ = 0;
};

}  // namespace berth::plugins::node_volume_limits

// Cluster: the columnar table of nodes, and the pods on them.
//
// The one mutable state of the core. Object events and assumed pods change it; plugins read it.
// Everything about a node that a predicate may look at is a column indexed by NodeIndex, or a table
// from a value to the nodes that have it.
//
// Threads: one writer; any number of readers while nobody writes.
// Invariants: every column has Rows() entries, rounded up to a whole word of a NodeSet; rows
// outside Nodes() are ghosts (their node object is gone or was never seen, but pods are still bound
// to it) or free, and no scan looks at them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "base/string_hash.h"
#include "cluster/ids.h"
#include "cluster/pods/group_members.h"
#include "cluster/pods/host_ports.h"
#include "cluster/pods/nominations.h"
#include "cluster/pods/pod.h"
#include "cluster/pods/pod_label_index.h"
#include "cluster/pods/pod_shape.h"
#include "cluster/pods/shape_table.h"
#include "cluster/pods/volume_use.h"
#include "cluster/table/dictionary.h"
#include "cluster/table/images.h"
#include "cluster/table/label_columns.h"
#include "cluster/table/node_set.h"
#include "cluster/table/node_tree.h"
#include "cluster/table/node_values.h"
#include "cluster/table/resources.h"
#include "cluster/table/row_log.h"
#include "cluster/table/taints.h"
#include "cluster/topology/topology_counters.h"

namespace berth::cluster {

class Transaction;    // cluster/transaction.h
struct ObjectStore;   // cluster/objects/object_store.h
struct PluginInputs;  // cluster/inputs.h
struct UndoLog;       // cluster/undo_log.h

// The part of a node that scans do not touch.
struct NodeRecord {
  StringId name = kNoString;
  bool exists = false;  // false: ghost or free row
  NodeLabels labels;
  std::vector<StringId> images;
  std::vector<StringId> declared_features;  // sorted
  // Allocatable amounts of every scalar resource, also those without a column.
  std::vector<std::pair<ResourceId, int64_t>> scalar_allocatable;
  // In order of arrival; a removal puts the last pod in the removed one's place.
  std::vector<PodId> pods;
};

// More than twenty fields: each is a column or a table of its own, with its own header and tests,
// and one event changes several of them. Only their consistency is kept here.
class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // --- Nodes
  // Adds the node or replaces what is known about it.
  NodeIndex SetNode(const api::Node& node);
  // Forgets the node. Pods still bound to it keep their place on a ghost row. False when it was not
  // there.
  bool RemoveNode(std::string_view name);

  NodeIndex FindNode(std::string_view name) const;  // kNoNode when it does not exist
  NodeIndex FindNode(StringId name) const;
  const std::string& NodeName(NodeIndex n) const { return strings_.Text(records_[n].name); }
  const NodeRecord& Record(NodeIndex n) const { return records_[n]; }
  const NodeSet& Nodes() const { return nodes_; }
  size_t NodeCount() const { return node_count_; }
  size_t Rows() const { return records_.size(); }
  // All nodes in kube-scheduler's order: zones take turns. Valid until the next SetNode or
  // RemoveNode.
  std::span<const NodeIndex> NodeOrder() const;
  // Changes whenever a node is added, removed or changed.
  uint64_t NodeGeneration() const { return node_generation_; }
  // Rows whose node or whose pods changed.
  const RowLog& Changes() const { return changes_; }

  // --- Columns
  // Null when no pod has ever mentioned the resource.
  const ResourceColumn* Resource(ResourceId id) const {
    return id < resources_.size() ? resources_[id].get() : nullptr;
  }
  std::span<const int64_t> NonzeroCpu() const { return nonzero_cpu_; }
  std::span<const int64_t> NonzeroMemory() const { return nonzero_memory_; }
  std::span<const int64_t> PodCount() const { return pod_count_; }
  std::span<const int64_t> AllowedPods() const { return allowed_pods_; }
  const NodeSet& Unschedulable() const { return unschedulable_; }
  std::span<const TaintSetId> TaintSetOf() const { return taint_set_; }
  const NodeSet& Tainted() const { return tainted_; }
  const TaintSets& Taints() const { return taints_; }
  const ImageTable& Images() const { return images_; }
  const HostPortTable& HostPorts() const { return host_ports_; }
  const VolumeUseTable& VolumeUse() const { return volume_use_; }
  // The values nodes have for a label key. Makes the column on first use, so keep what it returns.
  const LabelColumn& Labels(StringId key) const;
  // Pods of a kind by node and topology domain. Counters are made on first use, as label columns
  // are.
  TopologyCounters& Topology() const { return topology_; }

  // --- What only some plugins read
  // Keeps what `inputs` names from now on. REQUIRES: there are no nodes and pods yet, or all of it
  // is kept already.
  void Track(const PluginInputs& inputs);
  // Null: the node lacks the annotation, or its key is not tracked.
  const std::string* NodeAnnotation(NodeIndex n, std::string_view key) const {
    return node_annotations_.Find(key, n);
  }
  // Replaces the measured metrics of a node, which need not exist yet.
  void SetMetrics(std::string_view node, NodeMetrics metrics);
  // Null: nothing was measured.
  const NodeMetrics* Metrics(NodeIndex n) const;

  // --- Names
  // Dictionaries only grow, so asking for the id of a new name does not change the cluster in any
  // way that shows.
  Dictionary& Strings() const { return strings_; }
  ResourceNames& Resources() const { return resource_names_; }
  // Makes sure `id` has a column from now on.
  void TrackResource(ResourceId id);

  // --- Other objects
  const ObjectStore& Objects() const { return *objects_; }
  ObjectStore& MutableObjects() { return *objects_; }

  // --- Pods
  // How requests are counted. REQUIRES: there are no pods yet.
  void SetRequestRules(const api::RequestRules& rules) { request_rules_ = rules; }
  // Takes note of a pod. It is pending, unless spec.nodeName is set: then it is placed on that
  // node.
  PodId AddPod(const api::Pod& pod);
  // Replaces what is known of a pod; its place follows spec.nodeName if that is set.
  void UpdatePod(PodId id, const api::Pod& pod);
  // The same for a pod whose spec (but for nodeName), labels and owners are as they were: its spec
  // is not looked at otherwise.
  void UpdateStatus(PodId id, const api::Pod& pod);
  // Forgets the pod, wherever it is.
  void RemovePod(PodId id);

  // The pod as it is now, to look at after it has changed or gone. The cluster outlives it.
  std::shared_ptr<const Pod> Snapshot(PodId id);
  // A pod that is not in the cluster, as it would be known there.
  std::shared_ptr<const Pod> Snapshot(const api::Pod& pod);

  // Places a pending pod. `assumed`: by our decision, before the API server has confirmed it.
  void Place(PodId id, NodeIndex node, bool assumed);
  // Takes a pod off its node; it is pending again.
  void Unplace(PodId id);

  // Places a pending pod by our decision: its nomination ends, spec.nodeName names the node, and
  // its resources count there until the API server confirms or rejects the binding. REQUIRES:
  // spec.nodeName is empty.
  void Assume(PodId id, NodeIndex node);
  // Takes an assumed pod off its node and clears spec.nodeName; it is pending again.
  void Forget(PodId id);

  // Promises made to pending pods. A pod that is removed leaves them; one that is placed is taken
  // out by who places it.
  const Nominations& Nominated() const { return nominations_; }
  Nominations& MutableNominations() { return nominations_; }

  // Pods by the PodGroup they name.
  const GroupMembers& Members() const { return members_; }
  // Pods by the labels that plugins named (Track).
  const PodLabelIndex& Labelled() const { return labelled_; }

  const Pod& GetPod(PodId id) const { return pods_[id]; }
  Pod& MutablePod(PodId id) { return pods_[id]; }
  // kNoPod when there is none.
  PodId FindPod(std::string_view uid) const;
  PodId FindPod(const PodKey& key) const {
    return key.id < pods_.size() && pods_[key.id].serial == key.serial ? key.id : kNoPod;
  }
  size_t PodCountTotal() const { return pod_total_; }
  // Upper bound of pod ids in use, and whether `id` is in use.
  PodId PodIdLimit() const { return static_cast<PodId>(pods_.size()); }
  bool PodExists(PodId id) const { return pods_[id].shape != nullptr; }

 private:
  friend class Transaction;  // undoes what the functions above do

  NodeIndex RowFor(std::string_view name);  // existing, ghost or new row
  void GrowTo(size_t rows);
  size_t PaddedRows() const;
  void SetResources(NodeIndex n, const api::ResourceList& allocatable);
  bool SetLabels(NodeIndex n, const api::StringMap& labels);  // false: as they were
  void ClearNode(NodeIndex n);
  bool FreeRowIfUnused(NodeIndex n);  // true: it was freed
  const PodShape* ShapeOf(const api::Pod& pod) {
    return shapes_.Acquire(pod, request_rules_, strings_, resource_names_);
  }
  // `shape` is that of `from`, acquired for `pod`.
  void FillPod(Pod& pod, const api::Pod& from, const PodShape* shape);
  bool ChangesNothing(const Pod& pod, const api::Pod& from, const PodShape* shape) const;
  void Update(PodId id, const api::Pod& from, const PodShape* shape);
  void AddToColumns(const Pod& pod, NodeIndex n, int64_t sign);
  // What a pod adds to its node, but for its place in the list and its host ports.
  void CountOn(const Pod& pod, NodeIndex n);
  void CountOff(const Pod& pod, NodeIndex n);
  void TrackShapeResources(const PodShape& shape);
  std::shared_ptr<const Pod> Hold(std::unique_ptr<Pod> pod);

  mutable Dictionary strings_;
  mutable ResourceNames resource_names_;

  std::vector<NodeRecord> records_;
  std::vector<NodeIndex> free_rows_;
  boost::unordered_flat_map<StringId, NodeIndex> row_of_name_;
  NodeSet nodes_;
  size_t node_count_ = 0;
  uint64_t node_generation_ = 0;
  RowLog changes_;
  NodeTree tree_;
  mutable std::vector<NodeIndex> order_;
  mutable bool order_is_current_ = true;

  std::vector<std::unique_ptr<ResourceColumn>> resources_;
  std::vector<int64_t> nonzero_cpu_;
  std::vector<int64_t> nonzero_memory_;
  std::vector<int64_t> pod_count_;
  std::vector<int64_t> allowed_pods_;
  NodeSet unschedulable_;
  std::vector<TaintSetId> taint_set_;
  NodeSet tainted_;
  TaintSets taints_;
  ImageTable images_;
  HostPortTable host_ports_;
  VolumeUseTable volume_use_;
  mutable LabelColumns label_columns_;
  mutable TopologyCounters topology_{strings_};

  NodeAnnotations node_annotations_;
  boost::unordered_flat_map<StringId, NodeMetrics> metrics_;  // by node name

  std::unique_ptr<ObjectStore> objects_;

  ShapeTable shapes_;
  api::RequestRules request_rules_;
  std::deque<Pod> pods_;  // a deque: references stay valid while pods are added
  std::vector<PodId> free_pods_;
  ByString<PodId> pod_of_uid_;
  size_t pod_total_ = 0;
  uint64_t last_serial_ = 0;  // of pods
  Nominations nominations_;
  GroupMembers members_;
  PodLabelIndex labelled_;

  std::unique_ptr<UndoLog> undo_log_;
  UndoLog* undo_ = nullptr;  // the log, while a transaction is open
};

}  // namespace berth::cluster

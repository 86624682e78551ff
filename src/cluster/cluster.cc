#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "api/rules/resource_name.h"
#include "base/check.h"
#include "base/wrap.h"
#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/table/node_capacity.h"
#include "cluster/undo_log.h"

namespace berth::cluster {
namespace {

// Resources with a lower id have a column as soon as a pod mentions them. The names of the
// configuration are among them: plugins are made before there are pods.
constexpr ResourceId kFirstNames = 32;

// With what plugins read as if it were an annotation.
void SetAnnotations(const api::Node& node, NodeIndex n, NodeAnnotations* to) {
  const auto cpu = node.status.capacity.find("cpu");
  if (cpu == node.status.capacity.end() || !to->Tracks(kMilliCpuCapacity)) {
    to->SetRow(n, node.metadata.annotations);
    return;
  }
  api::StringMap values = node.metadata.annotations;
  values[std::string(kMilliCpuCapacity)] = std::to_string(cpu->second.MilliValue());
  to->SetRow(n, values);
}

bool WasPreemptedByScheduler(const api::Pod& pod) {
  for (const api::PodCondition& c : pod.status.conditions) {
    if (c.type == "DisruptionTarget") {
      return c.status == "True" && c.reason == "PreemptionByScheduler";
    }
  }
  return false;
}

std::optional<api::Time> ScheduledAt(const api::Pod& pod) {
  for (const api::PodCondition& c : pod.status.conditions) {
    if (c.type != "PodScheduled") continue;
    return c.status == "True" ? std::optional(c.last_transition_time) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Cluster::Cluster()
    : host_ports_(strings_.Intern("0.0.0.0")),
      objects_(std::make_unique<ObjectStore>()),
      undo_log_(std::make_unique<UndoLog>()) {
  for (const ResourceId id : {kCpu, kMemory, kEphemeralStorage}) TrackResource(id);
}

Cluster::~Cluster() = default;

// --- Nodes

NodeIndex Cluster::RowFor(std::string_view name) {
  const StringId id = strings_.Intern(name);
  const auto it = row_of_name_.find(id);
  if (it != row_of_name_.end()) return it->second;
  NodeIndex row;
  if (free_rows_.empty()) {
    row = static_cast<NodeIndex>(records_.size());
    GrowTo(records_.size() + 1);
  } else {
    row = free_rows_.back();
    free_rows_.pop_back();
  }
  records_[row].name = id;
  row_of_name_.emplace(id, row);
  return row;
}

// Columns end at a whole word of a NodeSet, so that a kernel may read 64 rows whatever the last
// node is.
size_t Cluster::PaddedRows() const {
  return (records_.size() + NodeSet::kWordBits - 1) / NodeSet::kWordBits * NodeSet::kWordBits;
}

void Cluster::GrowTo(size_t rows) {
  records_.resize(rows);
  nodes_.Resize(rows);
  unschedulable_.Resize(rows);
  tainted_.Resize(rows);
  topology_.SetRows(rows);
  changes_.SetRows(rows);
  const size_t padded = PaddedRows();
  if (padded == pod_count_.size()) return;
  for (auto& column : resources_) {
    if (!column) continue;
    column->allocatable.resize(padded);
    column->requested.resize(padded);
  }
  nonzero_cpu_.resize(padded);
  nonzero_memory_.resize(padded);
  pod_count_.resize(padded);
  allowed_pods_.resize(padded);
  taint_set_.resize(padded);
  label_columns_.Resize(padded);
}

NodeIndex Cluster::SetNode(const api::Node& node) {
  BERTH_DCHECK(undo_ == nullptr);
  const NodeIndex n = RowFor(node.metadata.name);
  NodeRecord& record = records_[n];
  ++node_generation_;
  changes_.Note(n);
  const bool is_new = !record.exists;
  const std::string zone = ZoneKey(node.metadata.labels);
  if (record.exists) {
    // As in kube-scheduler, a node that changes zone moves in the order when the next node comes or
    // goes.
    tree_.Update(n, zone);
    images_.RemoveNode(n, record.images);
  } else {
    record.exists = true;
    nodes_.Insert(n);
    ++node_count_;
    tree_.Add(n, zone);
    order_is_current_ = false;
  }
  const TaintSetId taints_before = taint_set_[n];
  bool topology_changed = SetLabels(n, node.metadata.labels) || is_new;
  SetResources(n, node.status.allocatable);
  unschedulable_.Set(n, node.spec.unschedulable);
  taint_set_[n] = taints_.Intern(node.spec.taints);
  tainted_.Set(n, taint_set_[n] != kNoTaints);
  topology_changed |= taint_set_[n] != taints_before;
  if (topology_changed) topology_.NodesChanged();
  SetAnnotations(node, n, &node_annotations_);
  record.images = images_.AddNode(n, node.status.images, strings_);
  record.declared_features.clear();
  for (const std::string& feature : node.status.declared_features) {
    record.declared_features.push_back(strings_.Intern(feature));
  }
  std::sort(record.declared_features.begin(), record.declared_features.end());
  return n;
}

bool Cluster::SetLabels(NodeIndex n, const api::StringMap& labels) {
  NodeLabels list;
  list.reserve(labels.size());
  for (const auto& [key, value] : labels) {
    list.emplace_back(strings_.Intern(key), strings_.Intern(value));
  }
  std::sort(list.begin(), list.end());
  if (list == records_[n].labels) return false;
  records_[n].labels = std::move(list);
  label_columns_.SetRow(n, records_[n].labels);
  return true;
}

void Cluster::SetResources(NodeIndex n, const api::ResourceList& allocatable) {
  NodeRecord& record = records_[n];
  record.scalar_allocatable.clear();
  for (auto& column : resources_) {
    if (column) column->allocatable[n] = 0;
  }
  allowed_pods_[n] = 0;
  for (const auto& [name, quantity] : allocatable) {
    if (name == "pods") {
      allowed_pods_[n] = quantity.Value();
      continue;
    }
    const bool fixed = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (!fixed && !api::IsScalarResource(name)) continue;
    const ResourceId id = resource_names_.Intern(name);
    const int64_t amount = id == kCpu ? quantity.MilliValue() : quantity.Value();
    if (id >= kFirstScalar) record.scalar_allocatable.emplace_back(id, amount);
    if (id >= kFirstNames) TrackResource(id);
    if (id < resources_.size() && resources_[id]) resources_[id]->allocatable[n] = amount;
  }
}

bool Cluster::RemoveNode(std::string_view name) {
  BERTH_DCHECK(undo_ == nullptr);
  const NodeIndex n = FindNode(name);
  if (n == kNoNode) return false;
  ++node_generation_;
  changes_.Note(n);
  NodeRecord& record = records_[n];
  images_.RemoveNode(n, record.images);
  tree_.Remove(n);
  order_is_current_ = false;
  nodes_.Erase(n);
  --node_count_;
  record.exists = false;
  ClearNode(n);
  topology_.NodesChanged();
  FreeRowIfUnused(n);
  return true;
}

void Cluster::ClearNode(NodeIndex n) {
  records_[n].labels.clear();
  records_[n].images.clear();
  label_columns_.SetRow(n, records_[n].labels);
  node_annotations_.SetRow(n, {});
  SetResources(n, {});
  unschedulable_.Erase(n);
  taint_set_[n] = kNoTaints;
  tainted_.Erase(n);
}

bool Cluster::FreeRowIfUnused(NodeIndex n) {
  NodeRecord& record = records_[n];
  if (record.exists || !record.pods.empty()) return false;
  if (undo_ != nullptr) undo_->freed.push_back({n, record.name});
  row_of_name_.erase(record.name);
  record = NodeRecord();
  free_rows_.push_back(n);
  return true;
}

NodeIndex Cluster::FindNode(std::string_view name) const {
  const StringId id = strings_.Find(name);
  return id == kNoString ? kNoNode : FindNode(id);
}

NodeIndex Cluster::FindNode(StringId name) const {
  const auto it = row_of_name_.find(name);
  return it != row_of_name_.end() && records_[it->second].exists ? it->second : kNoNode;
}

std::span<const NodeIndex> Cluster::NodeOrder() const {
  if (!order_is_current_) {
    tree_.List(order_);
    order_is_current_ = true;
  }
  return order_;
}

// --- Columns

const LabelColumn& Cluster::Labels(StringId key) const {
  static const NodeLabels kNone;
  return label_columns_.Get(key, PaddedRows(), [&](size_t row) -> const NodeLabels& {
    return row < records_.size() ? records_[row].labels : kNone;
  });
}

void Cluster::Track(const PluginInputs& inputs) {
  [[maybe_unused]] const bool empty = node_count_ == 0 && pod_total_ == 0;
  for (const CustomKind& kind : inputs.kinds) objects_->custom.Add(kind.ApiVersion(), kind.kind);
  for (const std::string& key : inputs.node_annotations) {
    [[maybe_unused]] const bool added = node_annotations_.Track(key);
    BERTH_DCHECK(!added || empty);
  }
  for (const std::string& key : inputs.pod_annotations) {
    [[maybe_unused]] const bool added = shapes_.TrackAnnotation(key);
    BERTH_DCHECK(!added || empty);
  }
  for (const std::string& key : inputs.pod_labels) {
    [[maybe_unused]] const bool added = labelled_.Track(key);
    BERTH_DCHECK(!added || empty);
  }
}

void Cluster::SetMetrics(std::string_view node, NodeMetrics metrics) {
  BERTH_DCHECK(undo_ == nullptr);
  metrics_.insert_or_assign(strings_.Intern(node), std::move(metrics));
  const NodeIndex n = FindNode(node);
  if (n == kNoNode) return;
  ++node_generation_;
  changes_.Note(n);
}

const NodeMetrics* Cluster::Metrics(NodeIndex n) const {
  const auto it = metrics_.find(records_[n].name);
  return it == metrics_.end() ? nullptr : &it->second;
}

void Cluster::TrackResource(ResourceId id) {
  if (id >= resources_.size()) resources_.resize(id + 1);
  if (resources_[id]) return;
  auto column = std::make_unique<ResourceColumn>();
  column->allocatable.resize(PaddedRows());
  column->requested.resize(PaddedRows());
  for (NodeIndex n = 0; n < records_.size(); ++n) {
    for (const auto& [scalar, amount] : records_[n].scalar_allocatable) {
      if (scalar == id) column->allocatable[n] = amount;
    }
    if (id < kFirstScalar) continue;
    for (const PodId pod : records_[n].pods) {
      int64_t& sum = column->requested[n];
      sum = WrapAdd(sum, pods_[pod].shape->on_node.Get(id));
    }
  }
  resources_[id] = std::move(column);
}

// Every resource that a shape mentions has its column before a pod of the shape is placed, so
// `requested` is complete. Of names beyond the first ones only those that a node offers have one:
// otherwise a tenant could make columns by inventing names. SetResources makes these.
void Cluster::TrackShapeResources(const PodShape& shape) {
  for (const Amounts* amounts : {&shape.fit, &shape.on_node}) {
    for (const auto& [id, amount] : amounts->scalars) {
      if (id < kFirstNames) TrackResource(id);
    }
  }
}

// --- Pods

void Cluster::FillPod(Pod& pod, const api::Pod& from, const PodShape* shape) {
  if (pod.shape != nullptr) shapes_.Release(pod.shape);
  pod.shape = shape;
  TrackShapeResources(*pod.shape);
  pod.name = from.metadata.name;
  pod.uid = from.metadata.uid;
  pod.node_name = from.spec.node_name;
  pod.nominated_node_name = from.status.nominated_node_name;
  pod.creation_timestamp = from.metadata.creation_timestamp;
  pod.start_time = from.status.start_time.value_or(api::Time());
  pod.terminating = from.metadata.deletion_timestamp.has_value();
  pod.preempted = WasPreemptedByScheduler(from);
  pod.scheduled_at = ScheduledAt(from);
  pod.resource_claim_statuses = from.status.resource_claim_statuses;
}

PodId Cluster::AddPod(const api::Pod& from) {
  BERTH_DCHECK(undo_ == nullptr);
  PodId id;
  if (free_pods_.empty()) {
    id = static_cast<PodId>(pods_.size());
    pods_.emplace_back();
  } else {
    id = free_pods_.back();
    free_pods_.pop_back();
  }
  Pod& pod = pods_[id];
  pod.id = id;
  pod.serial = ++last_serial_;
  FillPod(pod, from, ShapeOf(from));
  members_.Add(pod);
  labelled_.Add(pod);
  ++pod_total_;
  pod_of_uid_.insert_or_assign(pod.uid, id);
  if (!pod.node_name.empty()) Place(id, RowFor(pod.node_name), false);
  return id;
}

// Whether everybody who looks at the pod's node finds what they found before: the pods on it in the
// same order, and this one the same in all that counts there. That is so when the API server
// confirms what was assumed.
bool Cluster::ChangesNothing(const Pod& pod, const api::Pod& from, const PodShape* shape) const {
  if (pod.node == kNoNode || shape != pod.shape) return false;
  const NodeRecord& node = records_[pod.node];
  const std::string& name = from.spec.node_name;
  return pod.position + 1 == node.pods.size() &&
         (name.empty() || name == strings_.Text(node.name)) && pod.uid == from.metadata.uid &&
         pod.name == from.metadata.name &&
         pod.creation_timestamp == from.metadata.creation_timestamp &&
         pod.start_time == from.status.start_time.value_or(api::Time()) &&
         pod.terminating == from.metadata.deletion_timestamp.has_value() &&
         pod.preempted == WasPreemptedByScheduler(from) &&
         pod.resource_claim_statuses == from.status.resource_claim_statuses;
}

void Cluster::UpdatePod(PodId id, const api::Pod& from) { Update(id, from, ShapeOf(from)); }

void Cluster::UpdateStatus(PodId id, const api::Pod& from) {
  const PodShape* shape = pods_[id].shape;
  if (HasStatusOf(*shape, from.status)) {
    shapes_.Retain(shape);
  } else {
    api::Pod whole = shape->source;
    whole.metadata = from.metadata;
    whole.status = from.status;
    shape = ShapeOf(whole);
  }
  Update(id, from, shape);
}

// `shape` is that of `from`, acquired for the pod.
void Cluster::Update(PodId id, const api::Pod& from, const PodShape* shape) {
  BERTH_DCHECK(undo_ == nullptr);
  Pod& pod = pods_[id];
  if (ChangesNothing(pod, from, shape)) {
    shapes_.Release(shape);  // it has it already
    pod.assumed = pod.assumed && from.spec.node_name.empty();
    pod.scheduled_at = ScheduledAt(from);
    pod.node_name = from.spec.node_name;
    pod.nominated_node_name = from.status.nominated_node_name;
    return;
  }
  // By name: the row of a node that is gone is given up with its last pod.
  const StringId before = pod.node == kNoNode ? kNoString : records_[pod.node].name;
  const bool assumed = pod.assumed;
  if (before != kNoString) Unplace(id);
  if (pod.uid != from.metadata.uid) {
    const auto it = pod_of_uid_.find(pod.uid);
    if (it != pod_of_uid_.end() && it->second == id) pod_of_uid_.erase(it);
    pod_of_uid_.insert_or_assign(from.metadata.uid, id);
  }
  members_.Remove(pod);
  labelled_.Remove(pod);
  FillPod(pod, from, shape);
  members_.Add(pod);
  labelled_.Add(pod);
  if (!pod.node_name.empty()) {
    Place(id, RowFor(pod.node_name), false);
  } else if (before != kNoString) {
    Place(id, RowFor(strings_.Text(before)), assumed);
  }
}

void Cluster::RemovePod(PodId id) {
  BERTH_DCHECK(undo_ == nullptr);
  Pod& pod = pods_[id];
  if (pod.node != kNoNode) Unplace(id);
  nominations_.Clear(id);
  const auto it = pod_of_uid_.find(pod.uid);
  if (it != pod_of_uid_.end() && it->second == id) pod_of_uid_.erase(it);
  members_.Remove(pod);
  labelled_.Remove(pod);
  shapes_.Release(pod.shape);
  pod = Pod();
  free_pods_.push_back(id);
  --pod_total_;
}

std::shared_ptr<const Pod> Cluster::Hold(std::unique_ptr<Pod> pod) {
  return {pod.release(), [this](const Pod* held) {
            shapes_.Release(held->shape);
            delete held;
          }};
}

std::shared_ptr<const Pod> Cluster::Snapshot(PodId id) {
  auto copy = std::make_unique<Pod>(pods_[id]);
  shapes_.Retain(copy->shape);
  return Hold(std::move(copy));
}

std::shared_ptr<const Pod> Cluster::Snapshot(const api::Pod& pod) {
  auto made = std::make_unique<Pod>();
  FillPod(*made, pod, ShapeOf(pod));
  return Hold(std::move(made));
}

void Cluster::Place(PodId id, NodeIndex n, bool assumed) {
  Pod& pod = pods_[id];
  BERTH_DCHECK(pod.shape != nullptr && pod.node == kNoNode);
  changes_.Note(n);
  auto& list = records_[n].pods;
  pod.node = n;
  pod.position = static_cast<uint32_t>(list.size());
  pod.assumed = assumed;
  list.push_back(id);
  CountOn(pod, n);
  for (const HostPort& port : pod.shape->host_ports) {
    if (host_ports_.Take(n, port) && undo_ != nullptr) undo_->ports.push_back({n, port, true});
  }
  if (undo_ != nullptr) {
    undo_->placements.push_back({.pod = id,
                                 .node = n,
                                 .position = pod.position,
                                 .placed = true,
                                 .assumed = assumed,
                                 .named = false,
                                 .freed = false});
  }
}

void Cluster::CountOn(const Pod& pod, NodeIndex n) {
  AddToColumns(pod, n, +1);
  topology_.PodPlaced(pod, n);
  volume_use_.Add(*pod.shape, pod.id, n);
}

void Cluster::CountOff(const Pod& pod, NodeIndex n) {
  volume_use_.Remove(*pod.shape, pod.id, n);
  AddToColumns(pod, n, -1);
  topology_.PodUnplaced(pod, n);
}

void Cluster::Unplace(PodId id) {
  Pod& pod = pods_[id];
  const NodeIndex n = pod.node;
  BERTH_DCHECK(n != kNoNode);
  changes_.Note(n);
  CountOff(pod, n);
  for (const HostPort& port : pod.shape->host_ports) {
    if (host_ports_.Release(n, port) && undo_ != nullptr) undo_->ports.push_back({n, port, false});
  }
  auto& list = records_[n].pods;
  list[pod.position] = list.back();
  pods_[list[pod.position]].position = pod.position;
  list.pop_back();
  const bool assumed = std::exchange(pod.assumed, false);
  pod.node = kNoNode;
  const bool freed = FreeRowIfUnused(n);
  if (undo_ != nullptr) {
    undo_->placements.push_back({.pod = id,
                                 .node = n,
                                 .position = pod.position,
                                 .placed = false,
                                 .assumed = assumed,
                                 .named = false,
                                 .freed = freed});
  }
}

void Cluster::Assume(PodId id, NodeIndex n) {
  BERTH_DCHECK(pods_[id].node_name.empty());
  nominations_.Clear(id);
  pods_[id].node_name = NodeName(n);
  Place(id, n, /*assumed=*/true);
  if (undo_ != nullptr) undo_->placements.back().named = true;
}

void Cluster::Forget(PodId id) {
  // Empty when it was placed and not assumed.
  const bool named = !pods_[id].node_name.empty();
  BERTH_DCHECK(!named || pods_[id].node_name == NodeName(pods_[id].node));
  pods_[id].node_name.clear();
  Unplace(id);
  if (undo_ != nullptr) undo_->placements.back().named = named;
}

void Cluster::AddToColumns(const Pod& pod, NodeIndex n, int64_t sign) {
  const auto add = [&](std::vector<int64_t>& column, int64_t amount) {
    column[n] = sign > 0 ? WrapAdd(column[n], amount) : WrapSub(column[n], amount);
  };
  const Amounts& amounts = pod.shape->on_node;
  add(resources_[kCpu]->requested, amounts.cpu);
  add(resources_[kMemory]->requested, amounts.memory);
  add(resources_[kEphemeralStorage]->requested, amounts.ephemeral_storage);
  for (const auto& [id, amount] : amounts.scalars) {
    if (id < resources_.size() && resources_[id]) add(resources_[id]->requested, amount);
  }
  add(nonzero_cpu_, pod.shape->nonzero_cpu);
  add(nonzero_memory_, pod.shape->nonzero_memory);
  pod_count_[n] += sign;
}

PodId Cluster::FindPod(std::string_view uid) const {
  const auto it = pod_of_uid_.find(uid);
  return it == pod_of_uid_.end() ? kNoPod : it->second;
}

}  // namespace berth::cluster

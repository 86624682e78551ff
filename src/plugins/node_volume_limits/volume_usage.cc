#include "plugins/node_volume_limits/volume_usage.h"

#include <algorithm>

#include "cluster/object_store.h"

namespace berth::plugins::node_volume_limits {
namespace {

using cluster::kNoNode;
using cluster::kNoString;
using cluster::NodeIndex;
using cluster::NodeSet;

// Kinds of objects a row can depend on.
constexpr char kClaim = 'c';
constexpr char kVolume = 'v';
constexpr char kClass = 's';

std::string DependencyKey(char kind, const std::string& key) { return kind + key; }

int32_t Lookup(const std::vector<std::pair<std::string, int32_t>>& list, std::string_view driver,
               int32_t otherwise) {
  for (const auto& [name, value] : list) {
    if (name == driver) return value;
  }
  return otherwise;
}

void Increment(std::vector<std::pair<std::string, int32_t>>* list, const std::string& driver) {
  for (auto& [name, value] : *list) {
    if (name == driver) {
      ++value;
      return;
    }
  }
  list->emplace_back(driver, 1);
}

void SetLimits(const api::CSINode& csi_node, NodeUsage* usage) {
  for (const api::CSINodeDriver& driver : csi_node.spec.drivers) {
    if (driver.allocatable && driver.allocatable->count) {
      usage->limits.emplace_back(driver.name, *driver.allocatable->count);
    }
  }
  // Of two entries for one driver the last one holds.
  std::reverse(usage->limits.begin(), usage->limits.end());
}

void SortUnique(std::vector<CsiVolume>* volumes) {
  std::sort(volumes->begin(), volumes->end(),
            [](const CsiVolume& a, const CsiVolume& b) { return a.name < b.name; });
  const auto end = std::unique(volumes->begin(), volumes->end(),
                               [](const auto& a, const auto& b) { return a.name == b.name; });
  volumes->erase(end, volumes->end());
}

bool Contains(const std::vector<CsiVolume>& sorted, const std::string& name) {
  const auto it =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const CsiVolume& v, const std::string& n) { return v.name < n; });
  return it != sorted.end() && it->name == name;
}

}  // namespace

int32_t NodeUsage::Limit(std::string_view driver) const { return Lookup(limits, driver, kNoLimit); }
int32_t NodeUsage::Used(std::string_view driver) const { return Lookup(used, driver, 0); }

// --- What has changed

void VolumeUsage::MarkDirty(NodeIndex n) {
  if (n >= rows_.size() || rows_[n].dirty) return;
  rows_[n].dirty = true;
  dirty_.push_back(n);
}

void VolumeUsage::MarkAll() {
  for (NodeIndex n = 0; n < rows_.size(); ++n) MarkDirty(n);
}

void VolumeUsage::MarkDependents(char kind, const std::string& key) {
  const auto it = dependents_.find(DependencyKey(kind, key));
  if (it == dependents_.end()) return;
  for (const NodeIndex n : it->second) MarkDirty(n);
}

void VolumeUsage::MarkNode(const cluster::Cluster& cluster, std::string_view name) {
  if (const NodeIndex n = cluster.FindNode(name); n != kNoNode) MarkDirty(n);
}

// Rows that came, went or were given to another node.
void VolumeUsage::SyncRows(const cluster::Cluster& cluster) {
  if (synced_ && node_generation_ == cluster.NodeGeneration() && rows_.size() == cluster.Rows()) {
    return;
  }
  node_generation_ = cluster.NodeGeneration();
  rows_.resize(cluster.Rows());
  bad_.Resize(cluster.Rows());
  changes_.SetRows(cluster.Rows());
  const size_t padded = bad_.Words().size() * NodeSet::kWordBits;
  for (auto& [driver, column] : columns_) {
    column->used.resize(padded);
    column->limit.resize(padded, kNoLimit);
  }
  for (NodeIndex n = 0; n < rows_.size(); ++n) {
    const cluster::NodeRecord& record = cluster.Record(n);
    const cluster::StringId node = record.exists ? record.name : kNoString;
    if (rows_[n].node != node) MarkDirty(n);
    rows_[n].node = node;
  }
}

void VolumeUsage::SetAttachment(const cluster::Cluster& cluster, const std::string& key) {
  if (const auto it = node_of_attachment_.find(key); it != node_of_attachment_.end()) {
    const auto list = attachments_of_node_.find(it->second);
    std::erase(list->second, key);
    if (list->second.empty()) attachments_of_node_.erase(list);
    MarkNode(cluster, it->second);
    node_of_attachment_.erase(it);
  }
  const auto* attachment = cluster.Objects().volume_attachments.FindKey(key);
  if (attachment == nullptr) return;
  node_of_attachment_.emplace(key, attachment->spec.node_name);
  attachments_of_node_[attachment->spec.node_name].push_back(key);
  MarkNode(cluster, attachment->spec.node_name);
}

void VolumeUsage::SyncAttachments(const cluster::Cluster& cluster) {
  const auto& store = cluster.Objects().volume_attachments;
  const bool known = store.Changes().ForEachSince(
      attachment_generation_, [&](const std::string& key) { SetAttachment(cluster, key); });
  if (!known) {
    node_of_attachment_.clear();
    attachments_of_node_.clear();
    store.ForEach([&](const api::VolumeAttachment& attachment) {
      SetAttachment(cluster, "/" + attachment.metadata.name);
    });
    MarkAll();
  }
  attachment_generation_ = store.Generation();
}

void VolumeUsage::Sync(const cluster::Cluster& cluster) {
  const cluster::ObjectStore& objects = cluster.Objects();
  SyncRows(cluster);
  const auto follow = [&](const auto& log, uint64_t* generation, auto&& mark) {
    if (!log.ForEachSince(*generation, mark)) MarkAll();
    *generation = log.Generation();
  };
  follow(cluster.VolumeUse().Changes(), &use_generation_, [&](NodeIndex n) { MarkDirty(n); });
  follow(objects.persistent_volume_claims.Changes(), &claim_generation_,
         [&](const std::string& key) { MarkDependents(kClaim, key); });
  follow(objects.persistent_volumes.Changes(), &volume_generation_,
         [&](const std::string& key) { MarkDependents(kVolume, key); });
  follow(objects.storage_classes.Changes(), &class_generation_,
         [&](const std::string& key) { MarkDependents(kClass, key); });
  follow(objects.csi_nodes.Changes(), &csi_node_generation_,
         [&](const std::string& key) { MarkNode(cluster, std::string_view(key).substr(1)); });
  SyncAttachments(cluster);
  synced_ = true;
  constexpr size_t kSomeNames = 4096;
  if (names_->Size() > kSomeNames + 4 * name_uses_) {
    MarkAll();
    // Nobody's ids may outlive the names.
    for (Row& row : rows_) row.usage.volumes.clear();
    names_ = std::make_unique<cluster::Dictionary>();
    ++names_serial_;
    nodes_with_.clear();
    name_uses_ = 0;
  }
  for (const NodeIndex n : dirty_) Derive(cluster, n);
  dirty_.clear();
}

// --- A node

cluster::StringId VolumeUsage::FindVolume(std::string_view name) const {
  const cluster::StringId id = names_->Find(name);
  return id != kNoString && nodes_with_[id] > 0 ? id : kNoString;
}

void VolumeUsage::Collect(const cluster::Cluster& cluster, NodeIndex n, NodeUsage* usage,
                          std::vector<CsiVolume>* of_pods, Dependencies* depends) const {
  const cluster::ObjectStore& objects = cluster.Objects();
  const std::string& name = cluster.NodeName(n);
  const api::CSINode* csi_node = objects.csi_nodes.Find(name);
  usage->kind = KindOf(csi_node);
  if (csi_node != nullptr) SetLimits(*csi_node, usage);
  if (usage->limits.empty()) return;  // Then nobody asks for the rest.

  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->source.spec.volumes.empty()) continue;
    PodVolumes volumes = VolumesOf(cluster, pod, usage->kind, false, depends);
    if (volumes.code != framework::Code::kSuccess && usage->bad_pod == cluster::kNoPod) {
      usage->bad_pod = id;
    }
    std::move(volumes.volumes.begin(), volumes.volumes.end(), std::back_inserter(*of_pods));
  }
  SortUnique(of_pods);
  for (const CsiVolume& volume : *of_pods) Increment(&usage->used, volume.driver);

  const auto it = attachments_of_node_.find(name);
  if (it == attachments_of_node_.end()) return;
  std::vector<CsiVolume> attached;
  for (const std::string& key : it->second) {
    const api::VolumeAttachment& attachment = *objects.volume_attachments.FindKey(key);
    const auto& volume_name = attachment.spec.source.persistent_volume_name;
    if (attachment.spec.attacher.empty() || !volume_name) continue;
    if (depends != nullptr) depends->volumes.push_back("/" + *volume_name);
    const auto* volume = objects.persistent_volumes.Find(*volume_name);
    if (volume == nullptr || !volume->spec.csi) continue;
    const std::string& driver = attachment.spec.attacher;
    attached.push_back({driver, UniqueName(driver, volume->spec.csi->volume_handle)});
  }
  SortUnique(&attached);
  for (const CsiVolume& volume : attached) {
    if (!Contains(*of_pods, volume.name)) Increment(&usage->used, volume.driver);
  }
}

void VolumeUsage::Undepend(NodeIndex n) {
  for (const std::string& key : rows_[n].depends) {
    const auto it = dependents_.find(key);
    if (it == dependents_.end()) continue;
    std::erase(it->second, n);
    if (it->second.empty()) dependents_.erase(it);
  }
  rows_[n].depends.clear();
}

void VolumeUsage::Derive(const cluster::Cluster& cluster, NodeIndex n) {
  Row& row = rows_[n];
  row.dirty = false;
  changes_.Note(n);
  Undepend(n);
  name_uses_ -= row.usage.volumes.size();
  for (const cluster::StringId id : row.usage.volumes) --nodes_with_[id];
  row.usage = NodeUsage();
  if (row.node != kNoString) {
    std::vector<CsiVolume> of_pods;
    Dependencies depends;
    Collect(cluster, n, &row.usage, &of_pods, &depends);
    for (const CsiVolume& volume : of_pods) {
      row.usage.volumes.push_back(names_->Intern(volume.name));
    }
    std::sort(row.usage.volumes.begin(), row.usage.volumes.end());
    for (const auto& key : depends.claims) row.depends.push_back(DependencyKey(kClaim, key));
    for (const auto& key : depends.volumes) row.depends.push_back(DependencyKey(kVolume, key));
    for (const auto& key : depends.classes) row.depends.push_back(DependencyKey(kClass, key));
    for (const std::string& key : row.depends) dependents_[key].push_back(n);
  }
  name_uses_ += row.usage.volumes.size();
  nodes_with_.resize(std::max<size_t>(nodes_with_.size(), names_->Size()));
  for (const cluster::StringId id : row.usage.volumes) ++nodes_with_[id];
  bad_.Set(n, row.usage.bad_pod != cluster::kNoPod);
  for (auto& [driver, column] : columns_) FillColumn(driver, n, column.get());
}

VolumeUsage::Fresh VolumeUsage::DeriveNow(const cluster::Cluster& cluster, NodeIndex n) const {
  Fresh fresh;
  std::vector<CsiVolume> of_pods;
  Collect(cluster, n, &fresh.usage, &of_pods, nullptr);
  for (CsiVolume& volume : of_pods) fresh.names.push_back(std::move(volume.name));
  return fresh;
}

// --- Columns

void VolumeUsage::FillColumn(const std::string& driver, NodeIndex n, Column* column) const {
  column->used[n] = rows_[n].usage.Used(driver);
  // Negative limits are alike: nothing fits. Not so far below zero that a scan could overflow.
  column->limit[n] = std::max(rows_[n].usage.Limit(driver), -1);
}

const VolumeUsage::Column& VolumeUsage::ColumnOf(const std::string& driver) {
  std::unique_ptr<Column>& column = columns_[driver];
  if (column == nullptr) {
    column = std::make_unique<Column>();
    const size_t padded = bad_.Words().size() * NodeSet::kWordBits;
    column->used.resize(padded);
    column->limit.resize(padded, kNoLimit);
    for (NodeIndex n = 0; n < rows_.size(); ++n) FillColumn(driver, n, column.get());
  }
  return *column;
}

}  // namespace berth::plugins::node_volume_limits

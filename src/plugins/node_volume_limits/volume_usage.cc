#include "plugins/node_volume_limits/volume_usage.h"

#include <algorithm>
#include <utility>

#include "cluster/objects/object_store.h"

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
  std::sort(volumes->begin(), volumes->end(), [](const CsiVolume& a, const CsiVolume& b) {
    return a.name != b.name ? a.name < b.name : a.driver < b.driver;
  });
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

void VolumeUsage::MarkDirty(NodeIndex n, Dirt dirt) {
  if (n >= rows_.size()) return;
  if (rows_[n].dirty == kClean) dirty_.push_back(n);
  rows_[n].dirty |= dirt;
}

void VolumeUsage::MarkAll() {
  for (NodeIndex n = 0; n < rows_.size(); ++n) MarkDirty(n);
}

void VolumeUsage::MarkDependents(char kind, const std::string& key) {
  const auto it = dependents_.find(DependencyKey(kind, key));
  if (it == dependents_.end()) return;
  for (const NodeIndex n : it->second) MarkDirty(n);
}

void VolumeUsage::MarkNode(const cluster::Cluster& cluster, std::string_view name, Dirt dirt) {
  if (const NodeIndex n = cluster.FindNode(name); n != kNoNode) MarkDirty(n, dirt);
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
    MarkNode(cluster, it->second, kAttachments);
    node_of_attachment_.erase(it);
  }
  const auto* attachment = cluster.Objects().volume_attachments.FindKey(key);
  if (attachment == nullptr) return;
  node_of_attachment_.emplace(key, attachment->spec.node_name);
  attachments_of_node_[attachment->spec.node_name].push_back(key);
  MarkNode(cluster, attachment->spec.node_name, kAttachments);
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
  follow(cluster.VolumeUse().Changes(), &use_generation_,
         [&](NodeIndex n) { MarkDirty(n, kPods); });
  follow(objects.persistent_volume_claims.Changes(), &claim_generation_,
         [&](const std::string& key) { MarkDependents(kClaim, key); });
  follow(objects.persistent_volumes.Changes(), &volume_generation_,
         [&](const std::string& key) { MarkDependents(kVolume, key); });
  follow(objects.storage_classes.Changes(), &class_generation_,
         [&](const std::string& key) { MarkDependents(kClass, key); });
  follow(objects.csi_nodes.Changes(), &csi_node_generation_, [&](const std::string& key) {
    MarkNode(cluster, std::string_view(key).substr(1), kEverything);
  });
  SyncAttachments(cluster);
  synced_ = true;
  constexpr size_t kSomeNames = 4096;
  if (names_->Size() > kSomeNames + 4 * name_uses_) {
    MarkAll();
    // Nobody's ids may outlive the names.
    for (Row& row : rows_) {
      row.usage.volumes.clear();
      row.names = 0;
    }
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

std::vector<CsiVolume> VolumeUsage::Attached(const cluster::Cluster& cluster, NodeIndex n,
                                             Dependencies* depends) const {
  std::vector<CsiVolume> attached;
  const cluster::ObjectStore& objects = cluster.Objects();
  const auto it = attachments_of_node_.find(cluster.NodeName(n));
  if (it == attachments_of_node_.end()) return attached;
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
  return attached;
}

bool VolumeUsage::Holder::IsOf(const cluster::Pod& other) const {
  return pod == other.id && shape == other.shape->serial && pod_uid == other.uid &&
         pod_name == other.name;
}

void VolumeUsage::Hold(NodeIndex n, std::vector<CsiVolume> volumes, const Dependencies& depends,
                       Holder* holder) {
  for (const CsiVolume& volume : volumes) {
    holder->volumes.push_back({names_->Intern(volume.name), drivers_.Intern(volume.driver)});
  }
  for (const auto& key : depends.claims) holder->depends.push_back(DependencyKey(kClaim, key));
  for (const auto& key : depends.volumes) holder->depends.push_back(DependencyKey(kVolume, key));
  for (const auto& key : depends.classes) holder->depends.push_back(DependencyKey(kClass, key));
  for (const std::string& key : holder->depends) dependents_[key].push_back(n);
}

void VolumeUsage::Undepend(NodeIndex n, const Holder& holder) {
  for (const std::string& key : holder.depends) {
    const auto it = dependents_.find(key);
    auto& rows = it->second;
    // Once: another pod of the node may depend on it too.
    rows.erase(std::find(rows.begin(), rows.end(), n));
    if (rows.empty()) dependents_.erase(it);
  }
}

void VolumeUsage::ForgetHolders(NodeIndex n) {
  Row& row = rows_[n];
  for (const Holder& holder : row.pods) Undepend(n, holder);
  Undepend(n, row.attached);
  row.pods.clear();
  row.attached = Holder();
}

// Keeps what is known of pods that are still there.
void VolumeUsage::DerivePods(const cluster::Cluster& cluster, NodeIndex n) {
  Row& row = rows_[n];
  holders_.clear();
  holders_.swap(row.pods);
  ptrdiff_t next = 0;  // mostly pods stay in order
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->source.spec.volumes.empty()) continue;
    const auto is_its = [&](const Holder& holder) { return holder.IsOf(pod); };
    auto it = std::find_if(holders_.begin() + next, holders_.end(), is_its);
    if (it == holders_.end()) it = std::find_if(holders_.begin(), holders_.end(), is_its);
    if (it != holders_.end()) {
      next = it - holders_.begin() + 1;
      row.pods.push_back(std::exchange(*it, Holder()));
      continue;
    }
    Dependencies depends;
    PodVolumes volumes = VolumesOf(cluster, pod, row.usage.kind, false, &depends);
    Holder& holder = row.pods.emplace_back();
    holder.pod = id;
    holder.shape = pod.shape->serial;
    holder.pod_name = pod.name;
    holder.pod_uid = pod.uid;
    holder.bad = volumes.code != framework::Code::kSuccess;
    Hold(n, std::move(volumes.volumes), depends, &holder);
  }
  for (const Holder& gone : holders_) Undepend(n, gone);
}

void VolumeUsage::DeriveAttached(const cluster::Cluster& cluster, NodeIndex n) {
  Row& row = rows_[n];
  Undepend(n, row.attached);
  row.attached = Holder();
  Dependencies depends;
  std::vector<CsiVolume> attached = Attached(cluster, n, &depends);
  Hold(n, std::move(attached), depends, &row.attached);
}

// Sums up what the holders have, each volume once.
void VolumeUsage::Count(Row& row) {
  const auto before = [&](const Held& a, const Held& b) {
    return a.name != b.name ? a.name < b.name : drivers_.Text(a.driver) < drivers_.Text(b.driver);
  };
  const auto sort_unique = [&](std::vector<Held>* list) {
    std::sort(list->begin(), list->end(), before);
    const auto end = std::unique(list->begin(), list->end(),
                                 [](const Held& a, const Held& b) { return a.name == b.name; });
    list->erase(end, list->end());
  };
  held_.clear();
  for (const Holder& holder : row.pods) {
    held_.insert(held_.end(), holder.volumes.begin(), holder.volumes.end());
    if (holder.bad && row.usage.bad_pod == cluster::kNoPod) row.usage.bad_pod = holder.pod;
  }
  sort_unique(&held_);
  for (const Held& volume : held_) {
    row.usage.volumes.push_back(volume.name);
    Increment(&row.usage.used, drivers_.Text(volume.driver));
  }
  attached_ = row.attached.volumes;
  sort_unique(&attached_);
  const auto& of_pods = row.usage.volumes;
  for (const Held& volume : attached_) {
    if (std::binary_search(of_pods.begin(), of_pods.end(), volume.name)) continue;
    Increment(&row.usage.used, drivers_.Text(volume.driver));
  }
}

void VolumeUsage::Derive(const cluster::Cluster& cluster, NodeIndex n) {
  Row& row = rows_[n];
  const uint8_t dirty = std::exchange(row.dirty, kClean);
  changes_.Note(n);
  name_uses_ -= std::exchange(row.names, 0);
  for (const cluster::StringId id : row.usage.volumes) --nodes_with_[id];
  row.usage.volumes.clear();
  row.usage.used.clear();
  row.usage.bad_pod = cluster::kNoPod;
  const bool everything = (dirty & kEverything) != 0;
  if (everything) {
    ForgetHolders(n);
    row.usage = NodeUsage();
    if (row.node != kNoString) {
      const api::CSINode* csi_node = cluster.Objects().csi_nodes.Find(cluster.NodeName(n));
      row.usage.kind = KindOf(csi_node, all_migrated_);
      if (csi_node != nullptr) SetLimits(*csi_node, &row.usage);
    }
  }
  // Where nothing is limited nobody asks for the rest.
  if (row.node != kNoString && !row.usage.limits.empty()) {
    if (everything || (dirty & kPods) != 0) DerivePods(cluster, n);
    if (everything || (dirty & kAttachments) != 0) DeriveAttached(cluster, n);
    Count(row);
  }
  row.names = row.usage.volumes.size() + row.attached.volumes.size();
  name_uses_ += row.names;
  nodes_with_.resize(std::max<size_t>(nodes_with_.size(), names_->Size()));
  for (const cluster::StringId id : row.usage.volumes) ++nodes_with_[id];
  bad_.Set(n, row.usage.bad_pod != cluster::kNoPod);
  for (auto& [driver, column] : columns_) FillColumn(driver, n, column.get());
}

VolumeUsage::Fresh VolumeUsage::DeriveNow(const cluster::Cluster& cluster, NodeIndex n) const {
  Fresh fresh;
  NodeUsage& usage = fresh.usage;
  const api::CSINode* csi_node = cluster.Objects().csi_nodes.Find(cluster.NodeName(n));
  usage.kind = KindOf(csi_node, all_migrated_);
  if (csi_node != nullptr) SetLimits(*csi_node, &usage);
  if (usage.limits.empty()) return fresh;
  std::vector<CsiVolume> of_pods;
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->source.spec.volumes.empty()) continue;
    PodVolumes volumes = VolumesOf(cluster, pod, usage.kind, false);
    if (volumes.code != framework::Code::kSuccess && usage.bad_pod == cluster::kNoPod) {
      usage.bad_pod = id;
    }
    std::move(volumes.volumes.begin(), volumes.volumes.end(), std::back_inserter(of_pods));
  }
  SortUnique(&of_pods);
  for (const CsiVolume& volume : of_pods) Increment(&usage.used, volume.driver);
  std::vector<CsiVolume> attached = Attached(cluster, n, nullptr);
  SortUnique(&attached);
  for (const CsiVolume& volume : attached) {
    if (!Contains(of_pods, volume.name)) Increment(&usage.used, volume.driver);
  }
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

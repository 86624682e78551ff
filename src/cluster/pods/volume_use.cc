#include "cluster/pods/volume_use.h"

#include <algorithm>

#include "cluster/pods/pod_shape.h"

namespace berth::cluster {
namespace {

std::string Join(std::string_view kind, std::string_view name) {
  std::string key(kind);
  key += name;
  return key;
}

}  // namespace

std::string ClaimUseKey(std::string_view namespace_, std::string_view claim) {
  std::string key = Join("claim:", namespace_);
  key += '/';
  key += claim;
  return key;
}

std::string DiskUseKey(const api::Volume& v) {
  if (v.gce_persistent_disk) return Join("gce:", v.gce_persistent_disk->pd_name);
  if (v.aws_elastic_block_store) return Join("ebs:", v.aws_elastic_block_store->volume_id);
  if (v.iscsi) return Join("iscsi:", v.iscsi->iqn);
  if (v.rbd) return Join("rbd:", v.rbd->image);
  return {};
}

void VolumeUseTable::NoteChange(NodeIndex node) {
  if (node >= changed_at_.size()) changed_at_.resize(node + 1);
  changes_.Note(node, changed_at_.size());
  changed_at_[node] = changes_.Generation();
}

void VolumeUseTable::Add(const PodShape& shape, PodId pod, NodeIndex node) {
  if (shape.source.spec.volumes.empty()) return;
  for (const StringId key : shape.volume_keys) uses_[key].push_back({node, pod});
  NoteChange(node);
}

void VolumeUseTable::Remove(const PodShape& shape, PodId pod, NodeIndex node) {
  if (shape.source.spec.volumes.empty()) return;
  for (const StringId key : shape.volume_keys) {
    const auto it = uses_.find(key);
    auto& list = it->second;
    *std::find(list.begin(), list.end(), Use{node, pod}) = list.back();
    list.pop_back();
    if (list.empty()) uses_.erase(it);
  }
  NoteChange(node);
}

}  // namespace berth::cluster
